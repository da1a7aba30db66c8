/** A contract that buys policies, and surrenders half of each bond in the callback by which it receives the bond. */
import { type Address, createWalletClient, encodeDeployData, type LocalAccount, parseAbi } from "viem";
import { toNode } from "../../../scripts/local/to-node.ts";
import type { Protocol } from "../../support/protocol-actions.ts";
import { compile } from "../../support/solidity.ts";

const source = `
interface IBonds { function burnByHolder(address account, uint256 epochId, uint256 amount) external; }
interface IToken { function approve(address spender, uint256 amount) external returns (bool); }
contract HastyHolder {
    constructor(IToken usdc, address router) { usdc.approve(router, type(uint256).max); }
    function onERC1155Received(address, address, uint256 epochId, uint256 amount, bytes calldata) external returns (bytes4) {
        IBonds(msg.sender).burnByHolder(address(this), epochId, amount / 2);
        return this.onERC1155Received.selector;
    }
}`;

const abi = parseAbi(["constructor(address usdc, address router)"]);

/** Deploys such a contract, which lets the router take its USDC. */
export async function deployHastyHolder(
  { client, deployment, rpcUrl }: Protocol,
  deployer: LocalAccount,
): Promise<Address> {
  const { usdc, coverRouter } = deployment.contracts;
  const { creation } = compile(source, "HastyHolder");
  const data = encodeDeployData({ abi, bytecode: creation, args: [usdc, coverRouter] });
  const wallet = createWalletClient({ account: deployer, transport: toNode(rpcUrl) });
  const hash = await wallet.sendTransaction({ data, chain: null });
  const { contractAddress } = await client.waitForTransactionReceipt({ hash });
  if (!contractAddress) throw new Error("the holder was not deployed");
  return contractAddress;
}

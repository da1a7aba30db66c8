/** Contracts that buy policies, and then do with their bonds what a test tells them to. */
import { type Address, encodeDeployData, encodeFunctionData, parseAbi } from "viem";
import type { ProductTerms } from "../../../scripts/local/protocol/terms.ts";
import { usdc } from "../../support/ledger.ts";
import * as act from "../../support/protocol-actions.ts";
import { compile } from "../../support/solidity.ts";
import { owner } from "./keeper-policies.ts";
import type { KeeperSetup } from "./keeper-setup.ts";

const source = `
interface Token { function approve(address spender, uint256 amount) external; }
interface Router { function purchasePolicy(bytes32 productId, uint256 coverage, bytes32 asset) external returns (uint256); }
contract Receiver {
    uint256 mood;
    mapping(uint256 => uint256) stored;
    function setMood(uint256 next) external { mood = next; }
    function buy(address router, address usdc, bytes32 productId, uint256 coverage, bytes32 asset) external {
        Token(usdc).approve(router, coverage);
        Router(router).purchasePolicy(productId, coverage, asset);
    }
    function onERC1155Received(address, address, uint256, uint256, bytes calldata) external returns (bytes4) {
        if (mood == 1) revert("No bonds, please");
        if (mood == 2) assembly { invalid() }
        // Simulations have no price of gas, and sent transactions have.
        if (mood == 3 && tx.gasprice > 0) assembly { invalid() }
        if (mood == 4 && tx.gasprice > 0) while (gasleft() > 60000) stored[gasleft()] = 1;
        return this.onERC1155Received.selector;
    }
}`;

/** What a receiver does with bonds: the place in this list is the contract's number. */
const moods = [
  "accepts",
  "reverts",
  "burns all gas",
  "burns all gas in blocks alone",
  "stores in blocks alone",
] as const;
export type Mood = (typeof moods)[number];

const receiverAbi = parseAbi([
  "constructor()",
  "function setMood(uint256 next)",
  "function buy(address router, address usdc, bytes32 productId, uint256 coverage, bytes32 asset)",
]);

export type BondReceiver = {
  readonly address: Address;
  /** Buys a policy of 100 USDC. @returns its id. */
  readonly buy: (product: ProductTerms) => Promise<bigint>;
  readonly setMood: (mood: Mood) => Promise<unknown>;
};

/** Deploys a receiver with USDC, and this mood. */
export async function deployReceiver({ chain, protocol }: KeeperSetup, mood: Mood): Promise<BondReceiver> {
  const { client, deployment } = chain;
  const { coverRouter, usdc: token } = deployment.contracts;
  const hash = await client.sendTransaction({
    account: owner,
    data: encodeDeployData({ abi: receiverAbi, bytecode: compile(source, "Receiver").creation }),
  });
  const { contractAddress } = await client.waitForTransactionReceipt({ hash });
  if (!contractAddress) throw new Error("the receiver was not deployed");
  const address: Address = contractAddress;
  await act.mintUsdc(protocol, owner, address, usdc(1000));
  const setMood = (next: Mood) => {
    const args = [BigInt(moods.indexOf(next))] as const;
    return act.send(
      protocol,
      owner,
      address,
      encodeFunctionData({ abi: receiverAbi, functionName: "setMood", args }),
    );
  };
  await setMood(mood);
  return {
    address,
    setMood,
    async buy({ productId, asset }) {
      const args = [coverRouter, token, productId, usdc(100), asset] as const;
      const data = encodeFunctionData({ abi: receiverAbi, functionName: "buy", args });
      return act.purchased(await act.send(protocol, owner, address, data)).policyId;
    },
  };
}

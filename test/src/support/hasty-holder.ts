/** A contract that buys policies, and surrenders half of each bond in the callback by which it receives the bond. */
import { createRequire } from "node:module";
import {
  type Address,
  createWalletClient,
  encodeDeployData,
  type Hex,
  type LocalAccount,
  parseAbi,
} from "viem";
import { z } from "zod";
import { toNode } from "../../../scripts/local/to-node.ts";
import type { Protocol } from "../../support/protocol-actions.ts";

const source = `
// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;
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
const compiled = z.object({
  contracts: z.object({
    source: z.object({
      HastyHolder: z.object({ evm: z.object({ bytecode: z.object({ object: z.string() }) }) }),
    }),
  }),
});

function creationCode(): Hex {
  const solc: { compile(input: string): string } = createRequire(import.meta.url)("solc");
  const settings = {
    evmVersion: "cancun",
    outputSelection: { source: { HastyHolder: ["evm.bytecode.object"] } },
  };
  const input = { language: "Solidity", sources: { source: { content: source } }, settings };
  const { contracts } = compiled.parse(JSON.parse(solc.compile(JSON.stringify(input))));
  return `0x${contracts.source.HastyHolder.evm.bytecode.object}`;
}

/** Deploys such a contract, which lets the router take its USDC. */
export async function deployHastyHolder(
  { client, deployment, rpcUrl }: Protocol,
  deployer: LocalAccount,
): Promise<Address> {
  const { usdc, coverRouter } = deployment.contracts;
  const data = encodeDeployData({ abi, bytecode: creationCode(), args: [usdc, coverRouter] });
  const wallet = createWalletClient({ account: deployer, transport: toNode(rpcUrl) });
  const hash = await wallet.sendTransaction({ data, chain: null });
  const { contractAddress } = await client.waitForTransactionReceipt({ hash });
  if (!contractAddress) throw new Error("the holder was not deployed");
  return contractAddress;
}

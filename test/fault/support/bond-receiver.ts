/** Contracts that buy policies, and then do with their bonds what a test tells them to. */
import { createRequire } from "node:module";
import { type Address, encodeDeployData, encodeFunctionData, type Hex, parseAbi } from "viem";
import { z } from "zod";
import type { ProductTerms } from "../../../scripts/local/protocol/terms.ts";
import { usdc } from "../../support/ledger.ts";
import * as act from "../../support/protocol-actions.ts";
import { owner } from "./keeper-policies.ts";
import type { KeeperSetup } from "./keeper-setup.ts";

const source = `
// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;
interface Token { function approve(address spender, uint256 amount) external; }
interface Router { function purchasePolicy(bytes32 productId, uint256 coverage, bytes32 asset) external returns (uint256); }
contract Receiver {
    uint256 mood;
    function setMood(uint256 next) external { mood = next; }
    function buy(address router, address usdc, bytes32 productId, uint256 coverage, bytes32 asset) external {
        Token(usdc).approve(router, coverage);
        Router(router).purchasePolicy(productId, coverage, asset);
    }
    function onERC1155Received(address, address, uint256, uint256, bytes calldata) external view returns (bytes4) {
        if (mood == 1) revert("No bonds, please");
        if (mood == 2) assembly { invalid() }
        // Simulations have no price of gas, and sent transactions have.
        if (mood == 3 && tx.gasprice > 0) assembly { invalid() }
        return this.onERC1155Received.selector;
    }
}`;

/** What a receiver does with bonds: the place in this list is the contract's number. */
const moods = ["accepts", "reverts", "burns all gas", "burns all gas in blocks alone"] as const;
export type Mood = (typeof moods)[number];

const receiverAbi = parseAbi([
  "constructor()",
  "function setMood(uint256 next)",
  "function buy(address router, address usdc, bytes32 productId, uint256 coverage, bytes32 asset)",
]);

const compiled = z.object({
  contracts: z.object({
    receivers: z.object({
      Receiver: z.object({ evm: z.object({ bytecode: z.object({ object: z.string() }) }) }),
    }),
  }),
});

/** The creation code, compiled by the protocol's compiler; the source is not part of the protocol. */
function receiverCode(): Hex {
  const solc: { compile(input: string): string } = createRequire(import.meta.url)("solc");
  const outputSelection = { receivers: { Receiver: ["evm.bytecode.object"] } };
  const settings = { evmVersion: "cancun", outputSelection };
  const input = { language: "Solidity", sources: { receivers: { content: source } }, settings };
  return `0x${compiled.parse(JSON.parse(solc.compile(JSON.stringify(input)))).contracts.receivers.Receiver.evm.bytecode.object}`;
}

export type BondReceiver = {
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
    data: encodeDeployData({ abi: receiverAbi, bytecode: receiverCode() }),
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
    setMood,
    async buy({ productId, asset }) {
      const args = [coverRouter, token, productId, usdc(100), asset] as const;
      const data = encodeFunctionData({ abi: receiverAbi, functionName: "buy", args });
      return act.purchased(await act.send(protocol, owner, address, data)).policyId;
    },
  };
}

/** What reads of the index must say at each block, from the chain's logs. */
import { parseAbi, zeroAddress } from "viem";
import { policyManagerAbi } from "../../../abis/PolicyManager.ts";
import type { TestChain } from "../../support/chain.ts";

const burnEvent = parseAbi(["event Transfer(address indexed from, address indexed to, uint256 value)"])[0];

/** The events of one fork of the chain, up to its newest block at the time. */
export type Fork = {
  readonly newest: bigint;
  /** The burns' transactions and amounts, oldest first. */
  readonly burns: readonly { readonly block: bigint; readonly txHash: string; readonly amount: bigint }[];
  /** The blocks of all policies' purchases, oldest first, and their buyers. */
  readonly policies: readonly { readonly block: bigint; readonly buyer: string }[];
};

/** Reads the chain as it is now. */
export async function readFork({ client, deployment }: TestChain): Promise<Fork> {
  const { protocolToken, policyManager } = deployment.contracts;
  const newest = await client.getBlockNumber();
  const [burns, policies] = await Promise.all([
    client.getLogs({
      ...{ address: protocolToken, event: burnEvent, args: { to: zeroAddress } },
      ...{ fromBlock: 0n, toBlock: newest, strict: true },
    }),
    client.getContractEvents({
      ...{ address: policyManager, abi: policyManagerAbi, eventName: "PolicyCreated" },
      ...{ fromBlock: 0n, toBlock: newest, strict: true },
    }),
  ]);
  return {
    newest,
    burns: burns.map(({ blockNumber, transactionHash, args }) => ({
      ...{ block: blockNumber, txHash: transactionHash, amount: args.value },
    })),
    policies: policies.map(({ blockNumber, args }) => ({ block: blockNumber, buyer: args.buyer })),
  };
}

/** The fork at an earlier block. */
export const at = ({ burns, policies }: Fork, block: bigint): Fork => ({
  newest: block,
  burns: burns.filter((burn) => burn.block <= block),
  policies: policies.filter((policy) => policy.block <= block),
});

/** Bonds of a chain of emitters: the cheapest event there is, as many in a block as a test likes. */
import type { Address, TransactionReceipt } from "viem";
import { bondVaultAbi } from "../../../abis/BondVault.ts";
import { type EmitterChain, entry } from "../../src/support/emitters.ts";
import type { StoredEvent } from "./outbox.ts";

/** Issues a bond of each of these amounts in one transaction, and so in one block. */
export const issueBonds = (
  chain: EmitterChain,
  to: Address,
  ...amounts: readonly bigint[]
): Promise<TransactionReceipt> =>
  chain.emit(
    ...amounts.map((usdAmount) =>
      entry(chain.contracts.bondVault, bondVaultAbi, "BondIssued", { to, epochId: 202812n, usdAmount }),
    ),
  );

/** The keys of the events that bonds on the chain, as it is now, should have made, in its order. */
export async function keysOnChain(chain: EmitterChain): Promise<string[]> {
  const logs = await chain.client.getContractEvents({
    ...{ abi: bondVaultAbi, address: chain.contracts.bondVault, eventName: "BondIssued" },
    ...{ fromBlock: 0n, toBlock: "latest" },
  });
  return logs.map(
    ({ blockHash, transactionHash, logIndex }) => `${blockHash}:${transactionHash}:${logIndex}`,
  );
}

/** The keys of the events that stand, in the order in which they were told. */
export const keysOf = (events: readonly StoredEvent[]): string[] =>
  events.filter(({ reverted, type }) => !reverted && type === "bond_minted").map(({ key }) => key);

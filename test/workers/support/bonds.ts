/** Bonds on a chain of event emitters: the cheapest event, any number in a block. */
import type { Address, TransactionReceipt } from "viem";
import { bondVaultAbi } from "../../../abis/BondVault.ts";
import { type EmitterChain, entry } from "../../src/support/emitter-chain.ts";
import type { StoredEvent } from "./outbox.ts";

/** Issues bonds of these amounts in one transaction. */
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

/** The event keys of the bonds on the present chain, in chain order. */
export async function keysOnChain(chain: EmitterChain): Promise<string[]> {
  const logs = await chain.client.getContractEvents({
    ...{ abi: bondVaultAbi, address: chain.contracts.bondVault, eventName: "BondIssued" },
    ...{ fromBlock: 0n, toBlock: "latest" },
  });
  return logs.map(
    ({ blockHash, transactionHash, logIndex }) => `${blockHash}:${transactionHash}:${logIndex}`,
  );
}

/** The keys of the stored bonds without the reverted ones, by `seq`. */
export const keysOf = (events: readonly StoredEvent[]): string[] =>
  events.filter(({ reverted, type }) => !reverted && type === "bond_minted").map(({ key }) => key);

/** What `processQueue` pays: it succeeds also when it pays nothing. */
import { type Address, decodeEventLog, encodeEventTopics } from "viem";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import type { ReadClient } from "../../lib/chain/client.ts";
import type { Log } from "../../lib/chain/simulate-calls.ts";
import { UNIT } from "../../lib/vault-units.ts";

const [PROCESSED] = encodeEventTopics({ abi: bondVaultAbi, eventName: "QueueProcessed" });

/** Whether a simulated call pays nothing, by its logs. */
export const paidNothing = (logs: readonly Log[]): boolean =>
  logs.some(({ topics: [topic, ...topics], data }) => {
    if (topic !== PROCESSED) return false;
    const event = decodeEventLog({
      abi: bondVaultAbi,
      eventName: "QueueProcessed",
      topics: [topic, ...topics],
      data,
    });
    return event.args.count === 0n;
  });

/** Whether a call would pay nothing now, by the vault's views, where the node tells no logs of calls. */
export async function paysNothing(
  chain: Pick<ReadClient, "readContract">,
  bondVault: Address,
): Promise<boolean> {
  const vault = { address: bondVault, abi: bondVaultAbi } as const;
  const week = await chain.readContract({ ...vault, functionName: "currentEpoch" });
  const [first, length, most, cap, redeemed] = await Promise.all([
    chain.readContract({ ...vault, functionName: "queueProcessedIndex", args: [week] }),
    chain.readContract({ ...vault, functionName: "queueLength", args: [week] }),
    chain.readContract({ ...vault, functionName: "MAX_PROCESS_PER_CALL" }),
    chain.readContract({ ...vault, functionName: "maxRedeemThisEpoch" }),
    chain.readContract({ ...vault, functionName: "redeemedInEpoch", args: [week] }),
  ]);
  const entries = await Promise.all(
    Array.from({ length: Math.min(Number(length - first), Number(most)) }, (_, place) =>
      chain.readContract({
        ...vault,
        functionName: "queueByEpoch",
        args: [week, first + BigInt(place)],
      }),
    ),
  );
  // A paid entry's amount is 0.
  return entries.every(([, , dollars]) => dollars === 0n || redeemed + dollars * UNIT > cap * UNIT);
}

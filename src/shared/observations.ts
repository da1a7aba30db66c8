/** The observations of a policy's price: three in a row pay it, and one above the trigger price resets them. */
import { policy, policyObservation } from "ponder:schema";
import { type Hex, stringToHex } from "viem";
import { type Db, type LogEvent, rowAt } from "./event.ts";
import { newestRoundTime } from "./oracle.ts";
import type { PolicyKey } from "./policies.ts";
import { indexedSources } from "./sources.ts";

const RESET = stringToHex("RESET", { size: 32 });
const WINDOW_EXPIRED = stringToHex("WINDOW_EXPIRED", { size: 32 });

const { shields } = indexedSources(process.env);

/** The policy of a shield's log; undefined for one whose key has come again with another adapter: it is no policy any more. */
async function policyOf(
  db: Db,
  event: LogEvent & { args: { policyId: bigint } },
): Promise<typeof policy.$inferSelect | undefined> {
  const { policyId } = event.args;
  const at = event.log.address.toLowerCase();
  for (const { productId, adapter, shield } of shields) {
    const row = shield === at ? await db.find(policy, { productId, policyId }) : null;
    if (row?.shield === adapter) return row;
  }
  return undefined;
}

const keyOf = ({ productId, policyId }: PolicyKey): PolicyKey => ({ productId, policyId });

/** Counts an observation. The shield logs it before the evaluation that it is a part of. */
export async function countObservation(
  db: Db,
  event: LogEvent & { args: { policyId: bigint; count: number } },
): Promise<void> {
  const row = await policyOf(db, event);
  if (!row) return;
  const observedRound = await newestRoundTime(db, row.asset, event);
  await db.update(policy, keyOf(row)).set({
    observations: event.args.count,
    observedAt: event.block.timestamp,
    observedIn: event.block.number,
    observedRound,
  });
}

/** Records an evaluation that has observed, paid or reset a policy; an expiry has a row of its own. */
export async function recordEvaluation(
  db: Db,
  event: LogEvent & { args: { policyId: bigint; dropBps: bigint; reason: Hex } },
): Promise<void> {
  const { dropBps, reason } = event.args;
  const row = await policyOf(db, event);
  if (!row || reason === WINDOW_EXPIRED) return;
  const { productId, policyId } = row;
  const count = reason === RESET ? 0 : row.observations;
  await db.insert(policyObservation).values(rowAt(event, { productId, policyId, count, dropBps, reason }));
  if (reason === RESET)
    await db.update(policy, keyOf(row)).set({ observations: 0, observedIn: event.block.number });
}

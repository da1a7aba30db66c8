/** Finds the rounds that prove a policy's trigger: the index's, and those of the feed that the index lacks. */
import type { Address } from "viem";
import type { IndexedRounds } from "../../lib/indexed/due.ts";
import { CONFIRMATIONS } from "../../lib/price-rules.ts";
import { type Round, readNewestRound, readRounds } from "../chain/contracts/rounds.ts";
import type { PlanContext } from "./plan.ts";

/** A policy's prices count from `coverFrom` to `expiresAt` (Unix seconds), at or below `triggerPrice` (18 decimals). */
export type TriggerWindow = {
  readonly coverFrom: bigint;
  readonly expiresAt: bigint;
  readonly triggerPrice: bigint;
};

/** Rounds that one request to the node asks for. */
const CHUNK = 50n;
/**
 * Most rounds that are read from the feed, when the index is away: at Chainlink's pace for BTC and ETH on an L2, which is a
 * round in ten minutes or so, those of the longest cover.
 */
const MAX_ROUNDS = 300n;
/** Bits of the aggregator's round in a round id. */
const PHASE_ROUNDS = 2n ** 64n;

const isFallen =
  ({ coverFrom, expiresAt, triggerPrice }: TriggerWindow) =>
  ({ price, updatedAt }: Round): boolean =>
    updatedAt >= coverFrom && updatedAt <= expiresAt && price <= triggerPrice;

/** The newest rounds that count for a policy, three at most, by rising id. */
export function chooseRounds(rounds: readonly Round[], window: TriggerWindow): Round[] {
  const byId = new Map(rounds.filter(isFallen(window)).map((round) => [round.roundId, round]));
  const newestFirst = [...byId.values()].sort((a, b) => Number(b.updatedAt - a.updatedAt));
  return newestFirst.slice(0, CONFIRMATIONS).sort((a, b) => (a.roundId < b.roundId ? -1 : 1));
}

export type FoundRounds = {
  /** The newest rounds that count, three at most, by rising id. */
  readonly fallen: readonly Round[];
  /** False when older rounds of the window may count that were not read. */
  readonly complete: boolean;
  /** The feed's newest round; null for one that no shield takes. */
  readonly newest: Round | null;
};

/** The ids below `before` and above `after`, newest first, a request at most. */
const idsBelow = (before: bigint, after: bigint): bigint[] => {
  const count = before - 1n - after < CHUNK ? before - 1n - after : CHUNK;
  return Array.from({ length: Math.max(0, Number(count)) }, (_, n) => before - 1n - BigInt(n));
};

/**
 * Reads the policy's rounds at the block: those that the index names, and the newer ones of the feed, back to the newest that
 * the index has. Without the index, back to the beginning of the cover or of the feed's phase.
 */
export async function findRounds(
  { reads, block }: Pick<PlanContext, "reads" | "block">,
  feed: Address,
  window: TriggerWindow,
  indexed: IndexedRounds | undefined,
): Promise<FoundRounds> {
  const [{ roundId: newestId, round: newest }, known] = await Promise.all([
    readNewestRound(reads, feed, block.number),
    readRounds(reads, feed, indexed?.fallen ?? [], block.number),
  ]);
  const phaseStart = (newestId / PHASE_ROUNDS) * PHASE_ROUNDS;
  const isIndexedPhase = indexed !== undefined && indexed.newest >= phaseStart;
  const after = isIndexedPhase ? indexed.newest : phaseStart;
  const rounds = [...known, ...(newest ? [newest] : [])];
  let before = newestId;
  let reachedStart = false;
  while (before - 1n > after && newestId - before < MAX_ROUNDS && !reachedStart) {
    const ids = idsBelow(before, after);
    const read = await readRounds(reads, feed, ids, block.number);
    rounds.push(...read);
    before -= BigInt(ids.length);
    // Rounds are about in the order of their times: a request of earlier ones only is the end.
    reachedStart = read.length > 0 && read.every(({ updatedAt }) => updatedAt < window.coverFrom);
  }
  const readAll = before - 1n <= after;
  // Of earlier phases only the index knows rounds.
  const complete = reachedStart || (readAll && (isIndexedPhase || phaseStart <= PHASE_ROUNDS));
  return { fallen: chooseRounds(rounds, window), complete, newest };
}

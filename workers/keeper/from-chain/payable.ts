/**
 * When `submitTrigger` would pay a policy, by the rule of the contracts. A call in a block counts if it can be made by who knows
 * the chain up to the block before: rounds and sequencer are those after that block; window, age and grace are judged at the time
 * of the block itself.
 */
import { CONFIRMATIONS, MAX_PRICE_AGE, MINIMUM_PAYOUT, SEQUENCER_GRACE } from "../../../lib/price-rules.ts";
import { greater, smaller } from "../../common/bigints.ts";
import { type CoveredPolicy, type CoverTerms, type History, type Round, valueAfter } from "./history.ts";

/** The blocks `firstBlock` to `lastBlock` with a time (Unix seconds) from `notBefore` to `notAfter`. All are inclusive. */
export type Span = {
  readonly firstBlock: bigint;
  readonly lastBlock: bigint;
  readonly notBefore: bigint;
  readonly notAfter: bigint;
};

/** The index of the first round that is not before a time. */
function firstSince(rounds: readonly Round[], time: bigint): number {
  let [low, high] = [0, rounds.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((rounds[middle]?.updatedAt ?? time) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A policy's rounds that count: in its window, at or below its trigger price, each id once. In the order of their blocks. */
export function fallenRounds(
  { feed, triggerPrice, coverFrom, endsAt }: CoverTerms,
  { rounds }: Pick<History, "rounds">,
): Round[] {
  const all = rounds.get(feed) ?? [];
  const inWindow = all.slice(firstSince(all, coverFrom), firstSince(all, endsAt + 1n));
  const byId = new Map<bigint, Round>();
  for (const round of inWindow) {
    const counts = round.price > 0n && round.price <= triggerPrice && round.updatedAt > 0n;
    if (counts && !byId.has(round.roundId)) byId.set(round.roundId, round);
  }
  return [...byId.values()].sort((a, b) => Number(a.knownAfter - b.knownAfter));
}

/**
 * The block after which the third round that counts is known; undefined while there is none. A price that fell before the
 * purchase, with rounds dated ahead, counts from the purchase on.
 */
export function metAfter(
  { terms, soldIn }: CoveredPolicy,
  history: Pick<History, "rounds">,
): bigint | undefined {
  const third = fallenRounds(terms, history)[CONFIRMATIONS - 1];
  if (!third) return undefined;
  return greater(third.knownAfter, soldIn);
}

/** The proof with the newest rounds that are known after a block, by rising id; undefined with fewer than three. */
export function proofAfter(
  { terms }: Pick<CoveredPolicy, "terms">,
  history: Pick<History, "rounds">,
  block: bigint,
): readonly bigint[] | undefined {
  const known = fallenRounds(terms, history).filter(({ knownAfter }) => knownAfter <= block);
  if (known.length < CONFIRMATIONS) return undefined;
  const newest = known.sort((a, b) => Number(b.updatedAt - a.updatedAt)).slice(0, CONFIRMATIONS);
  return newest.map(({ roundId }) => roundId).sort((a, b) => (a < b ? -1 : 1));
}

/** The last block whose transactions could trigger the policy: that of its closing, or the history's last one. */
export const lastChance = ({ closing }: CoveredPolicy, { lastBlock }: Pick<History, "lastBlock">): bigint =>
  closing ? smaller(closing.block, lastBlock) : lastBlock;

/** The time of the newest round that counts, after each block that brought one; from the third round on. */
function newestTimes(fallen: readonly Round[]): { readonly block: bigint; readonly newest: bigint }[] {
  let newest = 0n;
  return fallen
    .map(({ knownAfter, updatedAt }) => {
      newest = greater(newest, updatedAt);
      return { block: knownAfter, newest };
    })
    .slice(CONFIRMATIONS - 1);
}

/**
 * The spans whose blocks could have held a successful trigger, in rising order; a span may hold no block, which only its
 * blocks' times tell. Includes the block of the policy's closing, and none after it.
 * @param ignoreSequencer takes the sequencer for up, to find out whether it prevented a trigger
 */
export function payableSpans(
  policy: CoveredPolicy,
  history: History,
  { ignoreSequencer = false }: { ignoreSequencer?: boolean } = {},
): Span[] {
  const met = metAfter(policy, history);
  const last = lastChance(policy, history);
  if (met === undefined || met >= last || policy.payout < BigInt(MINIMUM_PAYOUT)) return [];
  const times = newestTimes(fallenRounds(policy.terms, history));
  const changes = [
    ...times.map(({ block }) => block),
    ...(ignoreSequencer ? [] : history.sequencer.map(({ block }) => block)),
  ].filter((block) => block > met && block < last);
  // The states after these blocks each last up to the next of them.
  const states = [met, ...new Set(changes.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0)))];
  return states.flatMap((block, index): Span[] => {
    const status = valueAfter(history.sequencer, block);
    if (!ignoreSequencer && (!status?.up || status.startedAt <= 0n)) return [];
    const grace = ignoreSequencer || !status ? 0n : status.startedAt + BigInt(SEQUENCER_GRACE) + 1n;
    const newest = times.findLast((known) => known.block <= block)?.newest;
    if (newest === undefined) return [];
    return [
      {
        firstBlock: block + 1n,
        lastBlock: states[index + 1] ?? last,
        notBefore: grace,
        notAfter: smaller(policy.terms.endsAt, newest + BigInt(MAX_PRICE_AGE)),
      },
    ];
  });
}

/** Whether a trigger would pay in the state after the history's last block, at a time in Unix seconds. */
export function isPayableNow(policy: CoveredPolicy, history: History, now: bigint): boolean {
  if (policy.closing) return false;
  const next = history.lastBlock + 1n;
  return payableSpans(policy, { ...history, lastBlock: next }).some(
    ({ lastBlock, notBefore, notAfter }) => lastBlock === next && now >= notBefore && now <= notAfter,
  );
}

/** What proved a policy, out of its evaluation. */
import type { Schema } from "../../../client/index.ts";

type Round = Schema<"EvaluatedRound">;

const BPS = 10_000n;

/** How far `to` is below `from`, in basis points, rounded down; undefined for a `from` of zero. */
export function fallBps(from: string, to: string): number | undefined {
  const [before, after] = [BigInt(from), BigInt(to)];
  return before === 0n ? undefined : Number(((before - after) * BPS) / before);
}

/**
 * The first rounds that count, three at most, oldest first: the third one proves the policy. Fewer if they are not all among
 * the rounds of the answer, which has the newest.
 */
export function proofOf<Row extends Pick<Round, "updatedAt" | "verdict">>({
  rounds,
  metAt,
  nextCursor,
}: {
  readonly rounds: readonly Row[];
  readonly metAt: string | null;
  readonly nextCursor: string | null;
}): readonly Row[] {
  const counted = rounds.filter(({ verdict }) => verdict === "counts").reverse();
  if (metAt === null) return counted;
  const proof = counted.filter(({ updatedAt }) => BigInt(updatedAt) <= BigInt(metAt)).slice(0, 3);
  // Older rounds may be on another page; the one at metAt is the third whatever they are.
  return nextCursor === null || proof.at(-1)?.updatedAt === metAt ? proof : [];
}

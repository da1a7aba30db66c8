const BPS = 10_000n;

/** How far `to` is below `from`, in basis points, rounded down; undefined for a `from` of zero. */
export function fallBps(from: string, to: string): number | undefined {
  const [before, after] = [BigInt(from), BigInt(to)];
  return before === 0n ? undefined : Number(((before - after) * BPS) / before);
}

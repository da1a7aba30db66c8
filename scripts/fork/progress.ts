/** How far something is that goes through blocks in their order. */
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { BlockRange } from "../../lib/chain/log-scan.ts";

/** Between two lines. */
const EVERY_MS = 5_000;

const timeText = (ms: number): string =>
  ms < 90_000 ? `${Math.ceil(ms / 1_000)} s` : `${Math.ceil(ms / 60_000)} min`;

/** Says every few seconds, and at the end, how far it is. @returns takes the last block that is done */
export function progressThrough({ from, to }: BlockRange, say: (text: string) => void) {
  const startedAt = Date.now();
  let first: bigint | undefined;
  let told = startedAt;
  return (last: bigint): void => {
    first ??= last;
    if (Date.now() - told < EVERY_MS && last < to) return;
    told = Date.now();
    const percent = ((last - from + 1n) * 100n) / (to - from + 1n);
    const isKnown = last > first && last < to;
    const left = isKnown ? ((told - startedAt) * Number(to - last)) / Number(last - first) : undefined;
    say(`block ${last} of ${to}, ${percent} %${left === undefined ? "" : `, ${timeText(left)} left`}`);
  };
}

const statusShape = z.object({ main: z.object({ block: z.object({ number: z.int() }) }) });

/** Says how far an index is that reads its history, until `signal` is aborted. @param url Ponder's */
export async function tellIndexing(
  url: string,
  range: BlockRange,
  say: (text: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const tell = progressThrough(range, say);
  while (!signal.aborted) {
    await sleep(EVERY_MS, undefined, { signal }).catch(() => undefined);
    const status = await fetch(`${url}/status`, { signal })
      .then((response) => response.json())
      .catch(() => undefined);
    const block = statusShape.safeParse(status).data?.main.block.number;
    if (block !== undefined && BigInt(block) < range.to) tell(BigInt(block));
  }
}

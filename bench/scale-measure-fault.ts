/** What clients notice of a fault: how long until the next purchase is answered and mined, and until the index has a newer block. */
import { waitFor } from "../scripts/local/wait.ts";
import { type Finding, median, percentile } from "./report.ts";
import type { Buyers, Readers, Sale } from "./scale-clients.ts";
import type { Watch } from "./scale-sales.ts";

/** All clients that run while processes are killed, and the chain as they see it. */
export type Load = { readonly buyers: Buyers; readonly readers: Readers; readonly watch: Watch };

/** The earliest of these times, in ms after `at`; undefined if there is none. */
const firstAfter = (at: number, times: readonly (number | undefined)[]): number | undefined => {
  const known = times.flatMap((time) => (time === undefined ? [] : [time - at]));
  return known.length === 0 ? undefined : Math.min(...known);
};

const answerTime = ({ sentAt, answeredAt }: Sale): number[] =>
  answeredAt === undefined ? [] : [answeredAt - sentAt];

const sentSince = ({ buyers }: Load, at: number): Sale[] => buyers.sales.filter(({ sentAt }) => sentAt >= at);

/** Waits until a purchase that is sent from now on is mined. */
export async function untilMinedAnew(load: Load): Promise<void> {
  const at = performance.now();
  await waitFor({
    what: "a purchase to be mined",
    probe: () =>
      sentSince(load, at).some(({ coverage }) => load.watch.minedAt(coverage) !== undefined) || undefined,
  });
}

/** The median of the answers 202 to the purchases that were sent since, in ms. */
export const medianAnswer = (load: Load, since: number): number =>
  median(sentSince(load, since).flatMap(answerTime));

/**
 * Runs `kill` under load, and waits until a purchase sent after it is mined and a read shows a block after it; then runs `restore`,
 * and waits until every purchase sent meanwhile is answered. A 503 asks its client to wait for half a minute, as the slowest answers do.
 */
export async function measureFault(
  load: Load,
  what: string,
  { kill, restore }: { kill: () => Promise<unknown>; restore?: () => Promise<unknown> },
): Promise<Finding[]> {
  const { buyers, readers, watch } = load;
  const at = performance.now();
  const block = watch.newestBlock();
  await kill();
  const seen = await waitFor({
    what: `the service to go on: ${what}`,
    probe: () => {
      const since = sentSince(load, at);
      const answered = firstAfter(
        at,
        since.map((sale) => sale.answeredAt),
      );
      const mined = firstAfter(
        at,
        since.map((sale) => watch.minedAt(sale.coverage)),
      );
      const newer = readers.reads.find((read) => (read.block ?? 0n) > block);
      return answered !== undefined && mined !== undefined && newer
        ? { answered, mined, read: newer.sentAt - at }
        : undefined;
    },
  });
  await restore?.();
  const until = performance.now();
  const meanwhile = sentSince(load, at).filter(({ sentAt }) => sentAt <= until);
  await waitFor({
    what: "the purchases to be answered",
    probe: () =>
      meanwhile.every(({ answeredAt }) => answeredAt !== undefined) ||
      buyers.refusals.length > 0 ||
      undefined,
  });
  const failed = readers.reads.filter(({ sentAt, block }) => sentAt >= at && sentAt <= until && !block);
  const repeated = meanwhile.reduce((sum, { calls }) => sum + calls - 1, 0);
  return [
    { what: `${what}: next purchase answered`, value: seen.answered / 1000, unit: "s" },
    { what: "  next purchase mined", value: seen.mined / 1000, unit: "s" },
    { what: "  next block in a read", value: seen.read / 1000, unit: "s" },
    {
      what: `  slowest answer of ${meanwhile.length} purchases`,
      value: percentile(meanwhile.flatMap(answerTime), 100) / 1000,
      unit: "s",
    },
    { what: "  calls that clients repeated", value: repeated, unit: "" },
    { what: "  reads that no api answered", value: failed.length, unit: "" },
  ];
}

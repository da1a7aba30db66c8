/** Logs that need not be read again: those of blocks that lie deep in the chain. */
import { formatLog, type Hex, type Log, type RpcLog } from "viem";
import type { ReadClient } from "../../../lib/chain/client.ts";
import { type BlockRange, type LogFilter, type LogScan, scanLogs } from "../../../lib/chain/log-scan.ts";
import { greater, smaller } from "../../common/bigints.ts";

/** A block so far below the end of a scan is kept. A reorganisation that is deeper is noticed, and all is read anew. */
export const SETTLED_DEPTH = 64n;

/** All logs of a filter in a range, in the order of the chain, and the hash of the range's last block. */
type Settled = {
  readonly range: BlockRange;
  readonly hash: Hex;
  readonly logs: readonly Log<bigint, number, false>[];
};

/** The kept logs, by filter. */
export type SettledLogs = Map<string, Settled>;

type MinedLog = Settled["logs"][number];

const inRange =
  ({ from, to }: BlockRange) =>
  ({ blockNumber }: MinedLog): boolean =>
    blockNumber >= from && blockNumber <= to;

const compare = (a: MinedLog, b: MinedLog): number =>
  Number(a.blockNumber - b.blockNumber) || a.logIndex - b.logIndex;

const isMined = (log: Log): log is MinedLog => log.blockNumber !== null && log.logIndex !== null;

async function scan(logScan: LogScan, filter: LogFilter, range: BlockRange): Promise<MinedLog[]> {
  const found: RpcLog[] = [];
  await scanLogs(logScan, filter, range, (logs) => {
    // Not by spreading: a window may have more logs than a call may have arguments.
    for (const log of logs) found.push(log);
  });
  return found
    .map((log) => formatLog(log))
    .filter(isMined)
    .sort(compare);
}

/** The kept logs of a filter that the chain still has and that adjoin the range. */
async function stillKept(
  reads: ReadClient,
  settled: Settled | undefined,
  { from, to }: BlockRange,
): Promise<Settled | undefined> {
  if (!settled || settled.range.to + 1n < from || settled.range.from > to + 1n) return undefined;
  const block = await reads.getBlock({ blockNumber: settled.range.to }).catch(() => undefined);
  return block?.hash === settled.hash ? settled : undefined;
}

/**
 * All logs of a filter in a range, in the order of the chain; those of deep blocks that were read before are not read again.
 * Keeps at most twice as many blocks as the range has.
 * @throws as `scanLogs`
 */
export async function readLogs(
  logScan: LogScan & { readonly reads: ReadClient; readonly settled: SettledLogs },
  filter: LogFilter,
  range: BlockRange,
): Promise<MinedLog[]> {
  const { reads, settled } = logScan;
  const { from, to } = range;
  if (from > to) return [];
  const name = JSON.stringify([filter.address, filter.topics]);
  const kept = await stillKept(reads, settled.get(name), range);
  const last = to - SETTLED_DEPTH;
  // Before the scan: if a reorganisation replaces the block meanwhile, the hash does not fit the next time.
  const hash = last >= from ? (await reads.getBlock({ blockNumber: last })).hash : undefined;
  if (!kept) {
    const logs = await scan(logScan, filter, range);
    const keep = { from, to: last };
    if (hash) settled.set(name, { range: keep, hash, logs: logs.filter(inRange(keep)) });
    return logs;
  }
  const before = await scan(logScan, filter, { from, to: kept.range.from - 1n });
  const after = await scan(logScan, filter, { from: kept.range.to + 1n, to });
  const logs = [...before, ...kept.logs, ...after];
  if (hash && last > kept.range.to) {
    const keep = { from: greater(smaller(from, kept.range.from), from - (to - from)), to: last };
    settled.set(name, { range: keep, hash, logs: logs.filter(inRange(keep)) });
  }
  return logs.filter(inRange(range));
}

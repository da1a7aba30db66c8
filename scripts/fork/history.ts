/**
 * The history of the protocol before the fork, for the index: the logs that it reads, and the blocks that have one. It is read from
 * the forked node once, and kept: a later start reads only what is new.
 */
import { rmSync } from "node:fs";
import pLimit from "p-limit";
import { type Address, type Hex, hexToBigInt, numberToHex, type RpcLog } from "viem";
import { z } from "zod";
import type { ReadClient } from "../../lib/chain/client.ts";
import { type BlockRange, scanLogs, type WindowSize } from "../../lib/chain/log-scan.ts";
import { appendLine, readLines } from "./line-file.ts";
import type { Upstream } from "./upstream.ts";

/** Windows of logs in a stretch, after which what was read is kept. The first one finds out how large a window may be. */
const WINDOWS_IN_STRETCH = 8n;
/** A block of Base has some 200 kB. */
const CONCURRENT_BLOCKS = 16;

const hex = z.templateLiteral(["0x", z.string()]);
const topicsShape = z.array(z.union([hex, z.null(), z.array(hex)]));
const logShape = z.looseObject({
  address: hex,
  topics: z.array(hex),
  blockNumber: hex,
  blockHash: hex,
  transactionHash: hex,
  logIndex: hex,
});
const blockShape = z.looseObject({
  number: hex,
  hash: hex,
  /** Those alone that have a log of ours. */
  transactions: z.array(z.looseObject({ hash: hex })),
});
const hashShape = z.object({ hash: hex });
/** Logs and blocks up to a block. Its hash shows whether the node still has the same chain. */
const stretchShape = z.object({
  to: z.string(),
  hash: hex,
  logs: z.array(logShape),
  blocks: z.array(blockShape),
});
/** The first line of the file: what is read, and from which block on. */
const headShape = z.object({ chainId: z.int(), from: z.string(), filters: z.string() });

type Log = z.output<typeof logShape>;
type Block = z.output<typeof blockShape>;
type Stretch = z.output<typeof stretchShape>;

/** Logs of some contracts, by their topics; an empty list of topics matches all. */
export type HistoryFilter = {
  readonly addresses: readonly Address[];
  readonly topics: readonly (Hex | readonly Hex[] | null)[];
};

export type HistoryOptions = {
  readonly upstream: Upstream;
  /** Of the same node. */
  readonly client: ReadClient;
  readonly chainId: number;
  readonly filters: readonly HistoryFilter[];
  /** Its end is the forked block. */
  readonly range: BlockRange;
  readonly window: WindowSize;
  /** Where what was read is kept. */
  readonly file: string;
  /** Called after each stretch with its last block. */
  readonly onProgress: (last: bigint) => void;
};

const requestShape = z.object({
  address: z.union([hex, z.array(hex)]),
  topics: topicsShape.default([]),
  fromBlock: hex,
  toBlock: hex,
});
export type LogRequest = z.output<typeof requestShape>;

/** A request for logs by addresses and numbered blocks; undefined for any other. */
export const parseLogRequest = (params: unknown): LogRequest | undefined =>
  z.tuple([requestShape]).safeParse(params).data?.[0];

const lower = (text: string): string => text.toLowerCase();
const listOf = (topic: Hex | readonly Hex[]): readonly string[] => [topic].flat().map(lower);

function matches({ topics }: Log, wanted: HistoryFilter["topics"]): boolean {
  return wanted.every((topic, place) => {
    const actual = topics[place];
    return topic === null || (actual !== undefined && listOf(topic).includes(lower(actual)));
  });
}

/** Whether each log that has these topics has also those of the filter. */
function isWithin(topics: LogRequest["topics"], filter: HistoryFilter["topics"]): boolean {
  return filter.every((allowed, place) => {
    const wanted = topics[place] ?? null;
    if (allowed === null) return true;
    return wanted !== null && listOf(wanted).every((one) => listOf(allowed).includes(one));
  });
}

export class History {
  readonly range: BlockRange;
  readonly #filters: readonly (Pick<HistoryFilter, "topics"> & { readonly addresses: readonly string[] })[];
  /** In the order of the chain, with what requests ask for. */
  readonly #logs: readonly { readonly log: Log; readonly number: bigint; readonly address: string }[];
  readonly #blocks: ReadonlyMap<bigint, Block>;

  constructor(range: BlockRange, read: readonly ReadLogs[]) {
    this.range = range;
    this.#filters = read
      .flatMap(({ filters }) => filters)
      .map(({ addresses, topics }) => ({ addresses: addresses.map(lower), topics }));
    const stretches = read.flatMap((one) => one.stretches);
    this.#logs = inOrder(stretches.flatMap(({ logs }) => logs))
      .map((log) => ({ log, number: hexToBigInt(log.blockNumber), address: lower(log.address) }))
      .filter(({ number }) => number <= range.to);
    const blocks = new Map<bigint, Block>();
    for (const block of stretches.flatMap((one) => one.blocks)) {
      const number = hexToBigInt(block.number);
      const transactions = [...(blocks.get(number)?.transactions ?? []), ...block.transactions];
      blocks.set(number, { ...block, transactions });
    }
    this.#blocks = blocks;
  }

  /** The logs of a request up to the forked block; undefined if it asks for some that were not read. */
  logs({ address, topics, fromBlock, toBlock }: LogRequest): readonly Log[] | undefined {
    const [from, to] = [hexToBigInt(fromBlock), hexToBigInt(toBlock)];
    const wanted = [address].flat().map(lower);
    const isRead = (one: string) =>
      this.#filters.some((filter) => filter.addresses.includes(one) && isWithin(topics, filter.topics));
    if (from < this.range.from || !wanted.every(isRead)) return undefined;
    return this.#logs.flatMap(({ log, number, address: of }) =>
      number >= from && number <= to && wanted.includes(of) && matches(log, topics) ? [log] : [],
    );
  }

  /** A block with a log of ours, and of its transactions those that have one. */
  block(number: bigint): Block | undefined {
    return number <= this.range.to ? this.#blocks.get(number) : undefined;
  }
}

/** Each log once, in the order of the chain. */
function inOrder(logs: readonly Log[]): Log[] {
  const each = new Map(logs.map((log) => [`${log.blockHash} ${log.logIndex}`, log]));
  const place = ({ blockNumber, logIndex }: Log) => Number(blockNumber) * 1e6 + Number(logIndex);
  return [...each.values()].sort((one, other) => place(one) - place(other));
}

/** The logs of some filters, and their blocks. */
type ReadLogs = { readonly filters: readonly HistoryFilter[]; readonly stretches: Stretch[] };

async function hashOf(upstream: Upstream, block: bigint): Promise<Hex | undefined> {
  const answer = await upstream.request({
    method: "eth_getBlockByNumber",
    params: [numberToHex(block), false],
  });
  return hashShape.safeParse(answer).data?.hash;
}

/** Reads the stretches that earlier starts kept of this chain with these filters, and drops all others from the file. */
async function readKept({ upstream, chainId, filters, range, file }: HistoryOptions): Promise<Stretch[]> {
  const head = { chainId, from: String(range.from), filters: JSON.stringify(filters) };
  const [first, ...others] = readLines(file, z.union([stretchShape, headShape]));
  const stretches = others.flatMap((line) => ("logs" in line ? [line] : []));
  const isSame = async ({ to, hash }: Stretch) => (await hashOf(upstream, BigInt(to))) === hash;
  const [oldest] = stretches;
  const isOurs = JSON.stringify(first) === JSON.stringify(head);
  const kept = isOurs && oldest && (await isSame(oldest)) ? stretches : [];
  // The newest blocks may have been reorganised.
  for (let last = kept.at(-1); last && !(await isSame(last)); last = kept.at(-1)) kept.pop();
  if (kept.length === 0 || kept.length < others.length) {
    rmSync(file, { force: true });
    for (const line of [head, ...kept]) appendLine(file, line);
  }
  return kept;
}

/** @throws when the chain changes meanwhile */
async function readBlock(upstream: Upstream, number: bigint, logs: readonly Log[]): Promise<Block> {
  const params = [numberToHex(number), true];
  const block = blockShape.parse(await upstream.request({ method: "eth_getBlockByNumber", params }));
  if (logs.some(({ blockHash }) => blockHash !== block.hash))
    throw new Error(`block ${number} was reorganised while it was read: start again`);
  const ours = new Set(logs.map(({ transactionHash }) => transactionHash));
  return { ...block, transactions: block.transactions.filter(({ hash }) => ours.has(hash)) };
}

async function readStretch(
  { upstream, client, filters, window }: HistoryOptions,
  range: BlockRange,
): Promise<Stretch> {
  const found: RpcLog[] = [];
  const scan = { client, window, signal: new AbortController().signal };
  const take = (logs: readonly RpcLog[]) => {
    for (const log of logs) found.push(log);
  };
  for (const { addresses, topics } of filters)
    await scanLogs(scan, { address: addresses, topics }, range, take);
  const logs = inOrder(z.array(logShape).parse(found));
  const byBlock = new Map<bigint, Log[]>();
  for (const log of logs) {
    const number = hexToBigInt(log.blockNumber);
    byBlock.set(number, [...(byBlock.get(number) ?? []), log]);
  }
  const limit = pLimit(CONCURRENT_BLOCKS);
  const blocks = await Promise.all(
    [...byBlock].map(([number, its]) => limit(() => readBlock(upstream, number, its))),
  );
  const hash = await hashOf(upstream, range.to);
  if (hash === undefined) throw new Error(`the node has no block ${range.to}`);
  return { to: String(range.to), hash, logs, blocks };
}

/** Reads the logs of all filters up to the forked block, as far as no earlier start has. */
export async function readLogs(options: HistoryOptions): Promise<ReadLogs> {
  const { range, window, file, filters, onProgress } = options;
  const stretches = await readKept(options);
  let last = BigInt(stretches.at(-1)?.to ?? range.from - 1n);
  while (last < range.to) {
    const end = last + window.blocks * (stretches.length === 0 ? 1n : WINDOWS_IN_STRETCH);
    const stretch = await readStretch(options, { from: last + 1n, to: end < range.to ? end : range.to });
    appendLine(file, stretch);
    stretches.push(stretch);
    last = BigInt(stretch.to);
    onProgress(last);
  }
  return { filters, stretches };
}

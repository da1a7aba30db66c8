/**
 * The history of the protocol before the fork, for the index: the logs of its contracts, and the blocks that have one. It is read from
 * the forked node once, and kept: a later start reads only what is new.
 */
import { rmSync } from "node:fs";
import pLimit from "p-limit";
import { type Address, type Hex, hexToBigInt, numberToHex, type RpcLog } from "viem";
import { z } from "zod";
import type { ReadClient } from "../../lib/chain/client.ts";
import { type BlockRange, scanLogs, type WindowSize } from "../../lib/chain/log-scan.ts";
import { appendLine, readLines } from "./kept-answers.ts";
import type { Upstream } from "./upstream.ts";

/** Windows of logs in a stretch, after which what was read is kept. */
const WINDOWS_IN_STRETCH = 8n;
/** A block of Base has some 200 kB. */
const CONCURRENT_BLOCKS = 16;

const hex = z.templateLiteral(["0x", z.string()]);
const logShape = z.looseObject({
  address: hex,
  topics: z.array(hex),
  blockNumber: hex,
  blockHash: hex,
  transactionHash: hex,
});
const blockShape = z.looseObject({
  number: hex,
  hash: hex,
  /** Those alone that have a log of ours. */
  transactions: z.array(z.looseObject({ hash: hex })),
});
const hashShape = z.object({ hash: hex });
/** What was read up to a block, whose hash tells whether it is still the same chain. */
const stretchShape = z.object({
  to: z.string(),
  hash: hex,
  logs: z.array(logShape),
  blocks: z.array(blockShape),
});
/** The first line of the file: what is read, and from which block on. */
const headShape = z.object({ chainId: z.int(), from: z.string(), addresses: z.array(hex) });

type Log = z.output<typeof logShape>;
type Block = z.output<typeof blockShape>;
type Stretch = z.output<typeof stretchShape>;

export type HistoryOptions = {
  readonly upstream: Upstream;
  /** Of the same node. */
  readonly client: ReadClient;
  readonly chainId: number;
  /** Whose logs are read. */
  readonly addresses: readonly Address[];
  /** Its end is the forked block. */
  readonly range: BlockRange;
  readonly window: WindowSize;
  /** Where what was read is kept. */
  readonly file: string;
  /** Called after each stretch with its last block. */
  readonly onProgress: (last: bigint) => void;
};

const filterShape = z.object({
  address: z.union([hex, z.array(hex)]),
  topics: z.array(z.union([hex, z.null(), z.array(hex)])).default([]),
  fromBlock: hex,
  toBlock: hex,
});
export type LogFilter = z.output<typeof filterShape>;

/** A filter of `eth_getLogs` by addresses and numbered blocks; undefined for any other. */
export const parseFilter = (params: unknown): LogFilter | undefined =>
  z.tuple([filterShape]).safeParse(params).data?.[0];

const lower = (text: string): string => text.toLowerCase();

function matches({ topics }: Log, wanted: LogFilter["topics"]): boolean {
  return wanted.every((topic, place) => {
    const actual = topics[place];
    return topic === null || (actual !== undefined && [topic].flat().map(lower).includes(lower(actual)));
  });
}

export class History {
  readonly range: BlockRange;
  readonly #addresses: ReadonlySet<string>;
  /** In the order of the chain. */
  readonly #logs: readonly Log[];
  readonly #blocks: ReadonlyMap<bigint, Block>;

  constructor(range: BlockRange, addresses: readonly Address[], stretches: readonly Stretch[]) {
    this.range = range;
    this.#addresses = new Set(addresses.map(lower));
    this.#logs = stretches
      .flatMap(({ logs }) => logs)
      .filter((log) => hexToBigInt(log.blockNumber) <= range.to);
    this.#blocks = new Map(
      stretches.flatMap(({ blocks }) => blocks).map((block) => [hexToBigInt(block.number), block]),
    );
  }

  /** The filter's logs up to the forked block; undefined if it asks for more than was read. */
  logs({ address, topics, fromBlock, toBlock }: LogFilter): readonly Log[] | undefined {
    const [from, to, wanted] = [hexToBigInt(fromBlock), hexToBigInt(toBlock), [address].flat().map(lower)];
    if (from < this.range.from || !wanted.every((one) => this.#addresses.has(one))) return undefined;
    return this.#logs.filter((log) => {
      const number = hexToBigInt(log.blockNumber);
      return number >= from && number <= to && wanted.includes(lower(log.address)) && matches(log, topics);
    });
  }

  /** A block with a log of ours, and of its transactions those that have one. */
  block(number: bigint): Block | undefined {
    return number <= this.range.to ? this.#blocks.get(number) : undefined;
  }
}

async function hashOf(upstream: Upstream, block: bigint): Promise<Hex | undefined> {
  const answer = await upstream.request({
    method: "eth_getBlockByNumber",
    params: [numberToHex(block), false],
  });
  return hashShape.safeParse(answer).data?.hash;
}

type Kept = { readonly addresses: readonly Address[]; readonly stretches: Stretch[] };

/** What earlier starts have read of this chain for these contracts, or for more of them. The file then has nothing else. */
async function readKept({ upstream, chainId, addresses, range, file }: HistoryOptions): Promise<Kept> {
  const [head, ...others] = readLines(file, z.union([stretchShape, headShape]));
  const stretches = others.flatMap((line) => ("logs" in line ? [line] : []));
  const isSame = async ({ to, hash }: Stretch) => (await hashOf(upstream, BigInt(to))) === hash;
  const [oldest] = stretches;
  const isOurs =
    head !== undefined &&
    "addresses" in head &&
    head.chainId === chainId &&
    head.from === String(range.from) &&
    addresses.every((address) => head.addresses.includes(address));
  const kept = isOurs && oldest && (await isSame(oldest)) ? stretches : [];
  // The newest blocks may have been reorganised.
  for (let last = kept.at(-1); last && !(await isSame(last)); last = kept.at(-1)) kept.pop();
  const whose = kept.length > 0 && isOurs ? head.addresses : addresses;
  if (kept.length === 0 || kept.length < others.length) {
    rmSync(file, { force: true });
    const lines = [{ chainId, from: String(range.from), addresses: whose }, ...kept];
    for (const line of lines) appendLine(file, line);
  }
  return { addresses: whose, stretches: kept };
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
  { upstream, client, addresses, window }: HistoryOptions,
  range: BlockRange,
): Promise<Stretch> {
  const byBlock = new Map<bigint, Log[]>();
  const take = (found: readonly RpcLog[]) => {
    for (const log of z.array(logShape).parse(found)) {
      const number = hexToBigInt(log.blockNumber);
      byBlock.set(number, [...(byBlock.get(number) ?? []), log]);
    }
  };
  const signal = new AbortController().signal;
  await scanLogs({ client, window, signal }, { address: addresses, topics: [] }, range, take);
  const numbers = [...byBlock.keys()].sort((one, other) => (one < other ? -1 : 1));
  const limit = pLimit(CONCURRENT_BLOCKS);
  const blocks = await Promise.all(
    numbers.map((number) => limit(() => readBlock(upstream, number, byBlock.get(number) ?? []))),
  );
  const hash = await hashOf(upstream, range.to);
  if (hash === undefined) throw new Error(`the node has no block ${range.to}`);
  return {
    to: String(range.to),
    hash,
    // A window's logs are in order, the windows are not.
    logs: numbers.flatMap((number) => byBlock.get(number) ?? []),
    blocks,
  };
}

/** Reads the logs of all addresses up to the forked block, as far as no earlier start has. */
export async function readHistory(options: HistoryOptions): Promise<History> {
  const { range, window, file, onProgress } = options;
  const { addresses, stretches } = await readKept(options);
  let last = BigInt(stretches.at(-1)?.to ?? range.from - 1n);
  while (last < range.to) {
    const end = last + window.blocks * WINDOWS_IN_STRETCH;
    const part = { from: last + 1n, to: end < range.to ? end : range.to };
    const stretch = await readStretch({ ...options, addresses }, part);
    appendLine(file, stretch);
    stretches.push(stretch);
    last = BigInt(stretch.to);
    onProgress(last);
  }
  return new History(range, addresses, stretches);
}

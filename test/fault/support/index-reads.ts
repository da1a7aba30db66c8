/** A steady load of reads of the index, and the judgement of their answers: each must be that of its block. */
import { expect } from "vitest";
import { z } from "zod";
import { type HttpAnswer, http } from "../../support/http.ts";
import { at, type Fork } from "./index-truth.ts";

/** Requests a second. */
const RATE = 50;
/** Most requests at a time. A machine that is too busy for the rate is sent what it is owed later, at {@link IndexLoad.stop} at the latest. */
const MOST_OPEN = 25;

const decimal = z.string().transform(BigInt);
const burns = z.object({ burns_count: z.number(), total_token_burned: decimal });
const recent = z.object({ burns: z.array(z.object({ txHash: z.string() })) });
const protocol = z.object({ policies_total: z.number(), token_total_burned: decimal });
const bought = z.object({ total: z.number(), policies: z.array(z.object({ blockNumber: decimal })) });

const RECENT = 3;
const sumOf = (fork: Fork) => fork.burns.reduce((sum, { amount }) => sum + amount, 0n);

export type Endpoint = {
  readonly path: string;
  /** What the answer says, and what it must say: sums, lists and counts of one block. */
  readonly said: (json: unknown) => unknown;
  readonly expected: (fork: Fork) => unknown;
};

/** The routes that are read. `buyer`: with checksum. */
export const endpoints = (buyer: string): readonly Endpoint[] => [
  {
    path: "/api/v1/stats/burns",
    said: (json) => burns.parse(json),
    expected: (fork) => ({ burns_count: fork.burns.length, total_token_burned: sumOf(fork) }),
  },
  {
    path: `/api/v1/burns/recent?limit=${RECENT}`,
    said: (json) => recent.parse(json).burns.map(({ txHash }) => txHash),
    expected: (fork) =>
      fork.burns
        .slice(-RECENT)
        .map(({ txHash }) => txHash)
        .reverse(),
  },
  {
    path: "/api/v1/stats/protocol",
    said: (json) => protocol.parse(json),
    expected: (fork) => ({ policies_total: fork.policies.length, token_total_burned: sumOf(fork) }),
  },
  {
    path: `/api/v1/policies/by-buyer/${buyer}?limit=1`,
    said(json) {
      const { total, policies } = bought.parse(json);
      return [total, policies.map(({ blockNumber }) => blockNumber)];
    },
    expected(fork) {
      const own = fork.policies.filter((policy) => policy.buyer === buyer).map(({ block }) => block);
      return [own.length, own.slice(-1)];
    },
  },
];

export type Read = HttpAnswer & {
  readonly endpoint: Endpoint;
  /** The newest block of all answers that had arrived when the request was sent. */
  readonly seen: bigint;
  readonly tookMs: number;
};

/** The block that an answer describes; -1 without one. */
export const blockOf = ({ headers }: HttpAnswer) => BigInt(headers.get("x-indexed-block") ?? -1);

export type IndexLoad = {
  /** Waits until an answer of this block, or of a newer one, has come. */
  readonly reached: (block: bigint) => Promise<void>;
  /** The newest block that an answer has had, and how many answers there are. */
  readonly seen: () => { readonly block: bigint; readonly answers: number };
  /** While the chain is reorganised a lower block is right too, until an answer has this block or a newer one. */
  readonly reorganise: (reorganisation: () => Promise<bigint>) => Promise<void>;
  /** Ends the load and resolves to all answers: as many as the rate asks for in the time since the start. */
  readonly stop: () => Promise<readonly Read[]>;
};

/** Sends requests to all endpoints in turn until it is stopped. `buyer`: with checksum. */
export function startIndexLoad(apiUrl: string, buyer: string): IndexLoad {
  const all = endpoints(buyer);
  const reads: Read[] = [];
  const open = new Set<Promise<void>>();
  const faults: unknown[] = [];
  let sent = 0;
  let block = -1n;
  /** A read from before or within a reorganisation may arrive after it. */
  let era = 0;
  let reorganising = false;

  async function read(endpoint: Endpoint): Promise<void> {
    const [seen, begun, bornIn] = [reorganising ? -1n : block, performance.now(), era];
    const answer = await http(`${apiUrl}${endpoint.path}`);
    reads.push({ ...answer, endpoint, seen, tookMs: performance.now() - begun });
    if (bornIn === era && blockOf(answer) > block) block = blockOf(answer);
  }
  const begun = performance.now();
  let ended: number | undefined;
  const owed = () => Math.floor((((ended ?? performance.now()) - begun) * RATE) / 1000);

  /** Sends what the rate owes by now. */
  function send(): void {
    for (; sent < owed() && open.size < MOST_OPEN; sent += 1) {
      const endpoint = all[sent % all.length];
      if (endpoint === undefined) throw new Error("no endpoint is read");
      const request: Promise<void> = read(endpoint)
        .catch((fault: unknown) => void faults.push(fault))
        .finally(() => open.delete(request));
      open.add(request);
    }
  }
  const timer = setInterval(send, 1000 / RATE);
  const forget = () => {
    era += 1;
    block = -1n;
  };
  const reached = (height: bigint) =>
    expect.poll(() => block, { interval: 100 }).toBeGreaterThanOrEqual(height);
  return {
    reached,
    seen: () => ({ block, answers: reads.length }),
    async reorganise(reorganisation) {
      reorganising = true;
      // Those that were sent before have a block from before.
      await Promise.all(open);
      const newest = await reorganisation();
      forget();
      await reached(newest);
      forget();
      reorganising = false;
    },
    async stop() {
      clearInterval(timer);
      ended ??= performance.now();
      for (; sent < owed(); await Promise.race(open)) send();
      await Promise.all(open);
      expect(faults).toEqual([]);
      return reads;
    },
  };
}

/**
 * Expects each answer to be a 200, with the sums, lists and counts of its block on one of the forks, and of no older block
 * than an answer before. A 503 is an error, also one after the api's own time limit: readers must not wait that long for the
 * indexer's locks. `mayRefuse`: these codes of a 503 are right too.
 */
export function expectAnswers(
  reads: readonly Read[],
  forks: readonly Fork[],
  { mayRefuse = [] }: { mayRefuse?: readonly string[] } = {},
): void {
  expect(reads.length).toBeGreaterThan(0);
  const errors: unknown[] = [];
  for (const read of reads) {
    const { endpoint, status, text, headers, json, seen, tookMs } = read;
    const place = { path: endpoint.path, seen: String(seen), block: String(blockOf(read)) };
    if (status === 503 && mayRefuse.some((code) => text.includes(`"${code}"`))) continue;
    if (status !== 200) {
      errors.push({ ...place, status, text, tookMs });
      continue;
    }
    if (!/^\d+$/.test(headers.get("x-index-age") ?? ""))
      errors.push({ ...place, age: headers.get("x-index-age") });
    if (blockOf(read) < seen) errors.push({ ...place, what: "an older block than an answer before" });
    const said = endpoint.said(json);
    const right = forks
      .filter(({ newest }) => newest >= blockOf(read))
      .map((fork) => endpoint.expected(at(fork, blockOf(read))));
    if (!right.some((expected) => isEqual(said, expected))) errors.push({ ...place, said, right });
  }
  expect(errors.slice(0, 5), `${errors.length} of ${reads.length} answers are wrong`).toEqual([]);
}

const isEqual = (a: unknown, b: unknown): boolean => {
  const textOf = (value: unknown) =>
    JSON.stringify(value, (_name, part: unknown) => (typeof part === "bigint" ? String(part) : part));
  return textOf(a) === textOf(b);
};

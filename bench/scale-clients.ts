/** Clients that buy and read at a steady rate while processes are killed, and repeat calls as the documents tell them to. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Agents } from "./purchase-load.ts";
import type { Sales } from "./scale-sales.ts";

/** Pauses before a call is repeated, in ms, unless its answer asks for a longer one: the other api is asked at once. */
const PAUSES_MS = [0, 1000, 2000];
const LONGEST_PAUSE_MS = 4000;
/** In the end, a client waits so long for its answer, in ms. */
const LAST_ANSWER_MS = 60_000;
/** A read without an answer after this time has failed, in ms. */
const READ_MS = 10_000;

/** Times are those of `performance.now()`. */
export type Sale = {
  readonly key: string;
  readonly coverage: bigint;
  readonly sentAt: number;
  /** Undefined until the api has accepted it. */
  readonly answeredAt: number | undefined;
  /** How often the call was sent. */
  readonly calls: number;
};

export type Buyers = {
  readonly sales: readonly Sale[];
  /** Answers after which no client repeats its call. */
  readonly refusals: readonly string[];
  /** Buys no more, and waits until each purchase is answered, for a minute at most. */
  readonly stop: () => Promise<void>;
};

/**
 * Begins a new purchase `perSecond` times a second. Its call is repeated, under the same idempotency key and by the other api, until one
 * has accepted it.
 */
export function startBuyers(agents: Agents, sales: Sales, name: string, perSecond: number): Buyers {
  const all: { -readonly [Name in keyof Sale]: Sale[Name] }[] = [];
  const refusals: string[] = [];
  const open = new Set<Promise<void>>();
  let givenUp = false;

  async function buy(n: number): Promise<void> {
    const [key, coverage] = [`${name}-${n}`, sales.take(1)];
    const sale: (typeof all)[number] = {
      ...{ key, coverage, sentAt: performance.now(), answeredAt: undefined, calls: 0 },
    };
    all.push(sale);
    while (!givenUp) {
      const reply = await agents.send(key, n, { wait: false, coverage }, sale.calls).catch(() => {});
      sale.calls += 1;
      if (reply && reply.status < 300) {
        sale.answeredAt = performance.now();
        return;
      }
      if (reply && reply.retryAfterMs === undefined) {
        refusals.push(`${key}: ${reply.status} ${reply.text}`);
        return;
      }
      const pause = PAUSES_MS[sale.calls - 1] ?? LONGEST_PAUSE_MS;
      await sleep(Math.max(pause, reply?.retryAfterMs ?? 0));
    }
  }
  const timer = setInterval(() => {
    const one = buy(all.length).finally(() => open.delete(one));
    open.add(one);
  }, 1000 / perSecond);
  return {
    sales: all,
    refusals,
    async stop() {
      clearInterval(timer);
      await Promise.race([Promise.all(open), sleep(LAST_ANSWER_MS, undefined, { ref: false })]);
      givenUp = true;
    },
  };
}

export type Read = {
  readonly sentAt: number;
  /** The block of the answer; undefined if no api answered. */
  readonly block: bigint | undefined;
};

export type Readers = { readonly reads: readonly Read[]; readonly stop: () => Promise<void> };

/** Reads the index `perSecond` times a second, from the apis in turn. If one fails to answer, the others are asked. */
export function startReaders(apiUrls: readonly string[], perSecond: number): Readers {
  const reads: Read[] = [];
  const open = new Set<Promise<void>>();
  let asked = 0;

  async function ask(apiUrl: string): Promise<bigint | undefined> {
    const url = `${apiUrl}/api/v1/stats/protocol`;
    const response = await fetch(url, { signal: AbortSignal.timeout(READ_MS) });
    await response.body?.cancel();
    const block = response.headers.get("x-indexed-block");
    return response.ok && block !== null ? BigInt(block) : undefined;
  }
  async function read(first: number): Promise<void> {
    const sentAt = performance.now();
    let block: bigint | undefined;
    for (let n = 0; n < apiUrls.length && block === undefined; n += 1) {
      const apiUrl = apiUrls[(first + n) % apiUrls.length];
      if (apiUrl !== undefined) block = await ask(apiUrl).catch(() => undefined);
    }
    reads.push({ sentAt, block });
  }
  const timer = setInterval(() => {
    asked += 1;
    const one = read(asked).finally(() => open.delete(one));
    open.add(one);
  }, 1000 / perSecond);
  return {
    reads,
    async stop() {
      clearInterval(timer);
      await Promise.all(open);
    },
  };
}

/** A chain with the whole service, and subscribers with receivers in the test's process. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { z } from "zod";
import { type Connection, connect } from "../../../lib/db/connect.ts";
import type { ServiceName } from "../../../scripts/local/services.ts";
import { waitFor } from "../../../scripts/local/wait.ts";
import { issueKey } from "../../api/support/api.ts";
import { openRows, type Rows } from "../../src/support/rows.ts";
import { startChain, type TestChain } from "../../support/chain.ts";
import { atEnd } from "../../support/cleanup.ts";
import { ok, type Receiver, type Reply, type ReplyRule } from "../../support/receiver.ts";
import { type Stack, startStack } from "../../support/stack.ts";
import { type EventMaker, openEventMaker } from "./event-maker.ts";
import { eventsOf, eventsOnChain, faultsOf, orderFaultsOf, type Subscriber } from "./webhook-truth.ts";

export type WebhookWorld = {
  readonly chain: TestChain;
  readonly maker: EventMaker;
  readonly stack: Stack;
  readonly connection: Connection;
  readonly rows: Rows;
};

export type WebhookWorldOptions = {
  readonly seed: number;
  /** See `openEventMaker`. */
  readonly purchases?: number;
  /** By default a database on the run's server. */
  readonly databaseUrl?: string;
  /** Starts a Redis for the queues; needs `describeWithRedis` around it. */
  readonly redis?: boolean;
  readonly env?: Partial<Record<ServiceName, Readonly<Record<string, string>>>>;
};

export async function startWebhookWorld(options: WebhookWorldOptions): Promise<WebhookWorld> {
  const { seed, purchases, databaseUrl, redis, env } = options;
  const chain = await startChain({ retired: false });
  const maker = await openEventMaker(chain, seed, { purchases });
  const stack = await startStack({ chain, databaseUrl, redis, env });
  const connection = connect(stack.databaseUrl, { name: "test" });
  const rows = openRows(stack.databaseUrl);
  atEnd(async () => {
    await connection.close();
    await rows.close();
  });
  await rows.caughtUp(chain.client);
  return { chain, maker, stack, connection, rows };
}

const created = z.object({ id: z.number(), secret: z.string() });

export type Subscription = Subscriber & {
  readonly id: number;
  readonly secret: string;
  readonly receiver: Receiver;
  readonly headers: { readonly "x-api-key": string };
};

/** Subscribes a wallet through the api. Mine nothing meanwhile: the subscription starts at the newest block. */
export async function subscribe(
  { chain, stack }: Pick<WebhookWorld, "chain" | "stack">,
  receiver: Receiver,
  wallet: string,
  events: readonly string[] = ["*"],
  manner?: ReplyRule,
): Promise<Subscription> {
  if (manner) receiver.behave(manner);
  const fromBlock = await chain.client.getBlockNumber();
  const { headers } = await issueKey(stack.request, wallet, "paid");
  const body = { url: receiver.url, events: events.includes("*") ? "*" : events };
  const answer = await stack.request("/api/v1/webhooks", { headers, body });
  expect(answer.status, answer.text).toBe(201);
  const { id, secret } = created.parse(answer.json);
  return {
    ...{ id, secret, receiver, headers, wallet, events, fromBlock },
    get requests() {
      return receiver.requests;
    },
  };
}

/** Makes all pending retries due now, and lets a delivery have failed `mostFailures` times at most. */
export const makeRetriesDue = (
  { connection }: Pick<WebhookWorld, "connection">,
  { mostFailures = 1000 } = {},
): Promise<unknown> =>
  connection.sql`
    update service.delivery set next_attempt_at = now(), failures = least(failures, ${mostFailures})
    where state = 'pending' and not test and taken_at is null and next_attempt_at > now()`;

/** Makes retries due every second, also across database outages; none is a delivery's last. Call the result to stop. */
export function keepRetriesDue(world: Pick<WebhookWorld, "connection">): () => Promise<void> {
  const stopped = new AbortController();
  const { signal } = stopped;
  const all = (async () => {
    while (!signal.aborted) {
      // In production seven failures take hours. Here they take as many seconds, in which a receiver may be away.
      await makeRetriesDue(world, { mostFailures: 4 }).catch(() => {});
      await sleep(1000, undefined, { signal }).catch(() => {});
    }
  })();
  return async () => {
    stopped.abort();
    await all;
  };
}

/** Counts pending deliveries. */
export async function countPending({ connection }: Pick<WebhookWorld, "connection">): Promise<number> {
  const [row] = await connection.sql<{ count: number }[]>`
    select count(*)::int as count from service.delivery where state = 'pending' and not test`;
  return row?.count ?? 0;
}

/** Waits until the outbox has processed the newest block and every delivery has an attempt. */
export const caughtUp = ({ chain, connection }: WebhookWorld, timeoutMs: number): Promise<true> =>
  waitFor({
    what: "attempts of all deliveries up to the newest block",
    probe: async () => {
      const head = await chain.client.getBlockNumber();
      const [row] = await connection.sql<{ done: boolean }[]>`
        select processed_block >= ${String(head)}::bigint and not exists (
          select 1 from service.delivery where state = 'pending' and attempts = '[]') as done from service.outbox`;
      return row?.done === true ? true : undefined;
    },
    timeoutMs,
  });

/** The ids of the subscription's events with an attempt that got no answer within ten seconds, as on a machine that stood still. */
async function timedOutEvents(
  { connection }: Pick<WebhookWorld, "connection">,
  { id }: Subscription,
): Promise<ReadonlySet<string>> {
  const rows = await connection.sql<{ id: string }[]>`
    select e.id from service.delivery d join service.event e on e.seq = d.event_seq
    where d.webhook_id = ${id} and d.attempts @> '[{"outcome": "timeout"}]'`;
  return new Set(rows.map((row) => row.id));
}

/**
 * Waits until the subscribers' requests have no faults and no delivery is pending, and then expects both. The chain must not
 * change meanwhile.
 */
export async function expectCorrectDeliveries(
  world: Pick<WebhookWorld, "chain" | "connection" | "rows">,
  subscribers: readonly Subscription[],
  {
    timeoutMs = 240_000,
    ordered = subscribers,
  }: { timeoutMs?: number; ordered?: readonly Subscription[] } = {},
): Promise<{ events: number }> {
  await world.rows.caughtUp(world.chain.client, timeoutMs);
  const truth = await eventsOnChain(world.chain);
  const faults = () =>
    Object.fromEntries(
      subscribers
        .map((one) => [`${one.receiver.url} ${one.wallet}`, faultsOf(truth, one)] as const)
        .filter(([, found]) => found.length > 0),
    );
  await waitFor({
    what: "correct deliveries to every subscriber",
    probe: async () =>
      Object.keys(faults()).length === 0 && (await countPending(world)) === 0 ? true : undefined,
    timeoutMs,
    intervalMs: 250,
  }).catch(() => {}); // the expectations below fail with more detail
  expect(faults()).toEqual({});
  expect(await countPending(world), "pending deliveries").toBe(0);
  for (const one of ordered) {
    const timedOut = await timedOutEvents(world, one);
    if (timedOut.size > 0) console.log(`${timedOut.size} events timed out at ${one.receiver.url}`);
    expect(orderFaultsOf(one, truth, timedOut), `order of ${one.receiver.url}`).toEqual([]);
  }
  return { events: Math.max(...subscribers.map((one) => eventsOf(truth, one).length)) };
}

/**
 * A receiver that fails an event up to `most` times before it accepts it; the event's id decides how often. Seven failures would
 * make the subscription undeliverable.
 */
export function failingFirst(most: number, ...failures: readonly [Reply, ...Reply[]]): ReplyRule {
  const attempts = new Map<string, number>();
  return (n, { id }) => {
    const attempt = attempts.get(id) ?? 0;
    attempts.set(id, attempt + 1);
    const failing = Number(`0x${id.slice(-4)}`) % (most + 1);
    return attempt < failing ? (failures[n % failures.length] ?? failures[0]) : ok;
  };
}

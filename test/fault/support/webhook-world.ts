/** A chain, the whole service on it, and subscribers whose receivers are the test's own. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { z } from "zod";
import { type Connection, connect } from "../../../lib/db/connect.ts";
import type { ServiceName } from "../../../scripts/dev/services.ts";
import { waitFor } from "../../../scripts/local/wait.ts";
import { issueKey } from "../../api/support/api.ts";
import { openRows, type Rows } from "../../src/support/rows.ts";
import { startChain, type TestChain } from "../../support/chain.ts";
import { atEnd } from "../../support/cleanup.ts";
import { type Manner, ok, type Receiver, type Reply } from "../../support/receiver.ts";
import { type Stack, startStack } from "../../support/stack.ts";
import { type EventMaker, openEventMaker } from "./event-maker.ts";
import { disorderOf, eventsOf, eventsOnChain, faultsOf, type Subscriber } from "./webhook-truth.ts";

export type WebhookWorld = {
  readonly chain: TestChain;
  readonly maker: EventMaker;
  readonly stack: Stack;
  readonly connection: Connection;
  readonly rows: Rows;
};

export type WebhookWorldOptions = {
  readonly seed: number;
  /** Of a server of the test's own; a database on the run's when left out. */
  readonly databaseUrl?: string;
  /** Starts a Redis for the queues; needs `describeWithRedis` around it. */
  readonly redis?: boolean;
  readonly env?: Partial<Record<ServiceName, Readonly<Record<string, string>>>>;
};

export async function startWebhookWorld(options: WebhookWorldOptions): Promise<WebhookWorld> {
  const { seed, databaseUrl, redis, env } = options;
  const chain = await startChain({ retired: false });
  const maker = await openEventMaker(chain, seed);
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

/** Subscribes a wallet over the api. Nothing may be mined meanwhile: the subscription begins at the newest block. */
export async function subscribe(
  { chain, stack }: WebhookWorld,
  receiver: Receiver,
  wallet: string,
  events: readonly string[] = ["*"],
  manner?: Manner,
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

/** What is waiting for its retry is due now. */
export const hurry = ({ connection }: Pick<WebhookWorld, "connection">): Promise<unknown> =>
  connection.sql`
    update service.delivery set next_attempt_at = now()
    where state = 'pending' and not test and taken_at is null and next_attempt_at > now()`;

/** Hurries every so many ms until it is told to stop; a database that is away is no fault. */
export function keepHurrying(world: Pick<WebhookWorld, "connection">, everyMs: number): () => Promise<void> {
  const stopped = new AbortController();
  const { signal } = stopped;
  const all = (async () => {
    while (!signal.aborted) {
      await hurry(world).catch(() => {});
      await sleep(everyMs, undefined, { signal }).catch(() => {});
    }
  })();
  return async () => {
    stopped.abort();
    await all;
  };
}

/** Deliveries that are still on their way. */
export async function pending({ connection }: Pick<WebhookWorld, "connection">): Promise<number> {
  const [row] = await connection.sql<{ count: number }[]>`
    select count(*)::int as count from service.delivery where state = 'pending' and not test`;
  return row?.count ?? 0;
}

/** Waits until the newest block's events have been put on their way and every delivery has been tried. */
export const caughtUp = ({ chain, connection }: WebhookWorld, timeoutMs: number): Promise<true> =>
  waitFor({
    what: "the subscribers to be told of the newest block",
    probe: async () => {
      const head = await chain.client.getBlockNumber();
      const [row] = await connection.sql<{ told: boolean }[]>`
        select passed_block >= ${String(head)}::bigint and not exists (
          select 1 from service.delivery where state = 'pending' and attempts = '[]') as told from service.outbox`;
      return row?.told === true ? true : undefined;
    },
    timeoutMs,
  });

/**
 * Waits until nothing is wrong with what the subscribers were told and nothing is on its way, and then holds them to the
 * truth once more. The chain must be at rest.
 */
export async function expectToldTheTruth(
  world: WebhookWorld,
  subscribers: readonly Subscription[],
  {
    timeoutMs = 90_000,
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
    what: "every subscriber to be told the truth",
    probe: async () =>
      Object.keys(faults()).length === 0 && (await pending(world)) === 0 ? true : undefined,
    timeoutMs,
    intervalMs: 250,
  }).catch(() => {}); // said better by what follows
  expect(faults()).toEqual({});
  expect(await pending(world), "deliveries on their way").toBe(0);
  for (const one of ordered) expect(disorderOf(one, truth), `order of ${one.receiver.url}`).toEqual([]);
  return { events: Math.max(...subscribers.map((one) => eventsOf(truth, one).length)) };
}

/**
 * A receiver that fails with an event from none to `most` times, as its id says, before it takes it. Below seven, which
 * would end the subscription.
 */
export function failingFirst(most: number, ...failures: readonly [Reply, ...Reply[]]): Manner {
  const attempts = new Map<string, number>();
  return (n, { id }) => {
    const attempt = attempts.get(id) ?? 0;
    attempts.set(id, attempt + 1);
    const failing = Number(`0x${id.slice(-4)}`) % (most + 1);
    return attempt < failing ? (failures[n % failures.length] ?? failures[0]) : ok;
  };
}

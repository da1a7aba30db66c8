/**
 * What this proves: of a thousand subscriptions a hundred hang until the time-out and a hundred answer 500, and the other
 * eight hundred get their events as if alone: all of them have everything before a single hanging one has been given up,
 * also when everything that failed is due again. No receiver gets two requests at a time.
 */
import { beforeAll, expect, test } from "vitest";
import { DEV_SECRETS_KEY } from "../../lib/config.ts";
import { createSealer, newSecret } from "../../lib/webhooks/secrets.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import {
  eventOf,
  expectSigned,
  hang,
  ok,
  type Receiver,
  type Reply,
  startReceivers,
  status,
} from "../support/receiver.ts";
import { hurry, startWebhookWorld, type WebhookWorld } from "./support/webhook-world.ts";

const [GOOD, HANGING, REFUSING] = [800, 100, 100];
const BURNS = 3;

type Subscribed = { readonly receiver: Receiver; readonly secret: string };

let world: WebhookWorld;
let good: Subscribed[];
let hanging: Subscribed[];
let refusing: Subscribed[];

/** Receivers of one server, so many, all of which hear of every burn. Over the api a wallet may have twenty. */
async function subscribeMany(count: number, reply: Reply): Promise<Subscribed[]> {
  const receivers = await startReceivers();
  const sealer = createSealer(DEV_SECRETS_KEY);
  const wallet = world.chain.owner.address.toLowerCase();
  const all = Array.from({ length: count }, (_, n) => ({
    receiver: receivers.at(String(n)),
    secret: newSecret(),
  }));
  for (const { receiver } of all) receiver.behave(reply);
  const rows = all.map(({ receiver: { url }, secret }) => ({ url, secret: sealer.seal(secret, wallet) }));
  const { chainId } = world.chain.deployment;
  const head = Number(await world.chain.client.getBlockNumber());
  await world.connection.sql`
    insert into service.webhook (chain_id, wallet, url, events, secret, from_block, passed_block, passed_event)
    select ${chainId}, ${wallet}, r.url, '{token_burned}', r.secret, ${head},
      coalesce((select passed_block from service.outbox where chain_id = ${chainId}), -1),
      (select coalesce(max(seq), 0) from service.event)
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as r (url text, secret text)`;
  return all;
}

beforeAll(async () => {
  world = await startWebhookWorld({ seed: 1 });
  good = await subscribeMany(GOOD, ok);
  hanging = await subscribeMany(HANGING, hang);
  refusing = await subscribeMany(REFUSING, status(500));
});

const requestsOf = (all: readonly Subscribed[]) => all.flatMap(({ receiver }) => receiver.requests);

/** Mines burns, waits until the good ones have them, and resolves to the hanging calls of since then that were given up. */
async function burnAndDeliver(total: number): Promise<number> {
  const burntAt = Date.now();
  await world.maker.burns(BURNS);
  await waitFor({
    what: `${GOOD} subscriptions to have ${total} events`,
    probe: () => (good.every(({ receiver }) => receiver.requests.length >= total) ? true : undefined),
    timeoutMs: 60_000,
    intervalMs: 10,
  });
  return requestsOf(hanging).filter(({ at, overAt }) => at >= burntAt && overAt !== null).length;
}

test("the good ones have everything before one that hangs has been given up", async () => {
  expect(await burnAndDeliver(BURNS)).toBe(0);
  // They are tried, and not left out.
  await waitFor({
    what: "the bad ones to be tried",
    probe: () =>
      (requestsOf(hanging).length >= HANGING && requestsOf(refusing).length >= REFUSING) || undefined,
    timeoutMs: 90_000,
  });
});

test("the same when everything that failed is due again", async () => {
  await hurry(world);
  expect(await burnAndDeliver(2 * BURNS)).toBe(0);
});

test("each event came once, signed with its subscription's own secret, in order, one at a time", async () => {
  for (const { receiver } of good) {
    const blocks = receiver.requests.map((request) => Number(eventOf(request).blockNumber));
    expect(blocks).toHaveLength(2 * BURNS);
    expect(blocks).toEqual(blocks.toSorted((a, b) => a - b));
    expect(new Set(receiver.requests.map(({ id }) => id)).size).toBe(2 * BURNS);
  }
  for (const { receiver, secret } of good.slice(0, 20)) {
    for (const request of receiver.requests) expectSigned(request, [secret]);
  }
  for (const { receiver } of [...good, ...hanging, ...refusing]) {
    expect(receiver.mostAtOnce()).toBeLessThanOrEqual(1);
  }
});

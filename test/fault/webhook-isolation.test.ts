/**
 * What this proves: with a hundred hanging receivers and a hundred that answer 500, the 50 others receive all events
 * before the first hanging call times out, also when all failed deliveries are due again. No receiver has two requests at once.
 */
import { beforeAll, expect, test } from "vitest";
import { DEV_SECRETS_KEY } from "../../lib/off-local.ts";
import { createSealer, newSecret } from "../../lib/webhooks/secrets.ts";
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
import { makeRetriesDue, startWebhookWorld, type WebhookWorld } from "./support/webhook-world.ts";

const [GOOD, HANGING, REFUSING] = [50, 100, 100];
const BURNS = 2;

type Subscribed = { readonly receiver: Receiver; readonly secret: string };

let world: WebhookWorld;
let good: Subscribed[];
let hanging: Subscribed[];
let refusing: Subscribed[];

/** Subscribes receivers of one server to burns. It stores rows, because the api allows a wallet twenty webhooks. */
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

/** Mines burns, waits until the good ones have them, and resolves to the number of new hanging calls that have timed out. */
async function burnAndDeliver(total: number): Promise<number> {
  const burnedAt = Date.now();
  await world.maker.burns(BURNS);
  const complete = () => good.every(({ receiver }) => receiver.requests.length >= total);
  await expect.poll(complete, { interval: 10 }).toBe(true);
  return requestsOf(hanging).filter(({ at, overAt }) => at >= burnedAt && overAt !== null).length;
}

let burned = 0;
/** Burns until no hanging call has timed out before the good ones had all: a busy machine may need a second or third try. */
async function expectPromptDelivery(before: () => Promise<unknown> = async () => {}): Promise<void> {
  const late: number[] = [];
  do {
    await before();
    burned += BURNS;
    late.push(await burnAndDeliver(burned));
  } while (late.at(-1) !== 0 && late.length < 3);
  expect(late).toContain(0);
}

test("the good ones receive all events before a hanging call times out", async () => {
  await expectPromptDelivery();
  // The bad ones are called too.
  await expect.poll(() => requestsOf(hanging).length).toBeGreaterThanOrEqual(HANGING);
  await expect.poll(() => requestsOf(refusing).length).toBeGreaterThanOrEqual(REFUSING);
});

test("the same while all failed deliveries are due again", async () => {
  await expectPromptDelivery(() => makeRetriesDue(world));
});

test("each event arrived once, signed with its subscription's secret, in order and one at a time", async () => {
  for (const { receiver } of good) {
    const blocks = receiver.requests.map((request) => Number(eventOf(request).blockNumber));
    expect(blocks).toHaveLength(burned);
    expect(blocks).toEqual(blocks.toSorted((a, b) => a - b));
    expect(new Set(receiver.requests.map(({ id }) => id)).size).toBe(burned);
  }
  for (const { receiver, secret } of good.slice(0, 20)) {
    for (const request of receiver.requests) expectSigned(request, [secret]);
  }
  for (const { receiver } of [...good, ...hanging, ...refusing]) {
    expect(receiver.mostAtOnce()).toBeLessThanOrEqual(1);
  }
});

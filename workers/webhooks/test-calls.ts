import type { Sql } from "postgres";
import { errorText, type Logger } from "../../lib/log.ts";
import type { Attempt } from "../../lib/webhooks/attempt.ts";
import type { DeliveryMeter } from "../metrics/webhook-metrics.ts";
import type { Batch, ClaimedDelivery, Writer } from "./claim-deliveries.ts";
import { createFairLimit, type FairLimit } from "./concurrency-limit.ts";
import type { ReceiverClient } from "./receiver-client.ts";
import type { OpenSecrets } from "./secret-cache.ts";
import { signRequest } from "./signature.ts";
import type { CountCall } from "./unverified-limits.ts";

/**
 * Test calls: a subscriber requests one and waits for its outcome; the first one comes with the subscription. A test call is tried
 * once, apart from the deliveries of events. A receiver that echoes its challenge verifies the subscription; nothing else of the
 * outcome changes it.
 */

/** Concurrent test calls, in total and per wallet. Test calls and deliveries do not wait for each other. */
const LIMIT = { total: 32, perKey: 2, overtimePerSlot: 4 };
/** A slower test call lets others start, in ms. */
const SLOW_MS = 500;
/** Concurrent test calls, with those that continue after an early release. */
export const MAX_TEST_CALLS = LIMIT.total * (1 + LIMIT.overtimePerSlot);
/** A claimed test call without an outcome after this time was lost with its writer. */
const LOST_SECONDS = 30;
/** No client waits for an older test call. */
const STALE_SECONDS = 120;

export type TestCallContext = {
  sql: Sql;
  writer: Writer;
  client: ReceiverClient;
  openSecrets: OpenSecrets;
  countCall: CountCall;
  meter: DeliveryMeter;
  log: Logger;
  limit: FairLimit;
};

export const createTestCallLimit = () => createFairLimit(LIMIT);

type TestCall = Omit<Batch, "deliveries"> &
  Pick<ClaimedDelivery, "eventId" | "body"> & {
    /** Null for a call that was recorded by a version without challenges. */
    readonly challenge: string | null;
  };

/** The wallet of a pending test call; undefined when there is no such call. */
async function walletOf(sql: Sql, deliveryId: string): Promise<string | undefined> {
  const [row] = await sql<{ wallet: string }[]>`
    select w.wallet from service.delivery d join service.webhook w on w.id = d.webhook_id
    where d.id = ${deliveryId}::bigint and d.test and d.state = 'pending' and d.taken_at is null`;
  return row?.wallet;
}

/** Undefined when another writer was first, or the call is of another chain. */
async function claimTestCall(
  sql: Sql,
  { chainId }: Writer,
  deliveryId: string,
): Promise<TestCall | undefined> {
  const [row] = await sql<TestCall[]>`
    update service.delivery d set taken_at = now()
    from service.webhook w, service.event e
    where d.id = ${deliveryId}::bigint and d.test and d.state = 'pending' and d.taken_at is null
      and w.id = d.webhook_id and w.chain_id = ${chainId} and w.state <> 'deleted' and e.seq = d.event_seq
    returning w.id::text as "webhookId", w.url, w.wallet, w.secret, w.verified_at is not null as verified, e.id as "eventId",
      e.body, e.body::json #>> '{data,challenge}' as challenge,
      case when w.previous_secret_until > now() then w.previous_secret end as "previousSecret"`;
  return row;
}

/** A subscription that rests because it was not verified goes on. */
async function verify(sql: Sql, webhookId: string): Promise<void> {
  await sql`
    update service.webhook set verified_at = now(),
      lease_until = case when lease_token is null then '-infinity' else lease_until end
    where id = ${webhookId}::bigint and verified_at is null and state <> 'deleted'`;
}

async function settleTestCall(sql: Sql, deliveryId: string, attempt: Attempt): Promise<void> {
  const delivered = attempt.outcome === "delivered";
  await sql`
    update service.delivery set attempts = attempts || ${JSON.stringify(attempt)}::text::jsonb, taken_at = null,
      state = ${delivered ? "delivered" : "undeliverable"}, delivered_at = case when ${delivered} then now() end
    where id = ${deliveryId}::bigint`;
}

/** Ends lost and stale test calls. @returns the delivery ids of the other pending ones. */
export async function findTestCalls(sql: Sql, { chainId }: Writer): Promise<readonly string[]> {
  const rows = await sql<{ id: string; over: boolean }[]>`
    with waiting as (
      select d.id, coalesce(d.taken_at < now() - make_interval(secs => ${LOST_SECONDS}),
        d.created_at < now() - make_interval(secs => ${STALE_SECONDS})) as over
      from service.delivery d join service.webhook w on w.id = d.webhook_id
      where d.test and d.state = 'pending' and w.chain_id = ${chainId} and w.state <> 'deleted'
    ), ended as (
      update service.delivery d set state = 'undeliverable', taken_at = null from waiting
      where d.id = waiting.id and waiting.over and d.state = 'pending'
    )
    select id::text, over from waiting`;
  return rows.filter(({ over }) => !over).map(({ id }) => id);
}

/** Makes a test call that is still pending, within the limits. Never rejects. */
export async function makeTestCall(context: TestCallContext, deliveryId: string): Promise<void> {
  try {
    const wallet = await walletOf(context.sql, deliveryId);
    if (wallet === undefined) return;
    const slot = await context.limit.acquire(wallet);
    const timer = setTimeout(slot.releaseEarly, SLOW_MS);
    await claimAndCall(context, deliveryId).finally(() => {
      clearTimeout(timer);
      slot.release();
    });
  } catch (error) {
    context.log.warn({ deliveryId, err: errorText(error) }, "a test call failed");
  }
}

/** The attempt of a call that was not made, because an unverified subscription has had its calls of the hour. */
const notSent = (restMs: number): Attempt => ({
  ...{ at: new Date().toISOString(), durationMs: 0, outcome: "target_refused", status: null, response: null },
  error: `nothing was sent: the webhook is not verified, and its host or wallet has no more tests for ${Math.ceil(restMs / 60_000)} min`,
});

async function claimAndCall(context: TestCallContext, deliveryId: string): Promise<void> {
  const { sql, writer, client, openSecrets, countCall, meter } = context;
  const call = await claimTestCall(sql, writer, deliveryId);
  if (!call) return;
  const restMs = await countCall(call);
  if (restMs > 0) return settleTestCall(sql, deliveryId, notSent(restMs));
  const result = await client.post(signRequest(call.url, call, openSecrets(call)));
  if (!result) return;
  const { attempt } = result;
  meter.attempted(attempt);
  const { challenge } = call;
  // A receiver that reflects what it is sent has not consented.
  const answered = attempt.response ?? "";
  const echoed = challenge !== null && answered.includes(challenge) && !answered.includes(call.eventId);
  if (attempt.outcome === "delivered" && echoed) {
    await verify(sql, call.webhookId);
  }
  await settleTestCall(sql, deliveryId, attempt);
}

import type { Sql } from "postgres";
import { errorText, type Logger } from "../../lib/log.ts";
import type { DeliveryMeter } from "../metrics/deliveries.ts";
import type { TakenDelivery, Turn, Writer } from "./claim.ts";
import { createPlaces } from "./places.ts";
import type { Posted, Poster } from "./post.ts";
import { outgoing, type SecretsOf } from "./turn.ts";

/**
 * Test calls: a sample that a subscriber asked for and waits for. It is tried once, apart from the events, and whatever
 * comes of it concerns nothing else.
 */

/** Test calls at once, of which one wallet's; they never wait for deliveries, nor deliveries for them. */
const PLACES = { total: 32, ofKey: 2, aside: 4 };
/** A test call that takes longer lets others begin, in ms. */
const SLOW_MS = 500;
/** Test calls that can be under way. */
export const TEST_CALLS = PLACES.total * (1 + PLACES.aside);
/** A test call whose outcome is not there after so many seconds was lost with its writer. */
const LOST_SECONDS = 30;
/** Nobody asks for one any more that could not be made for so long. */
const STALE_SECONDS = 120;

type TestCall = Omit<Turn, "deliveries" | "webhookId"> & Pick<TakenDelivery, "eventId" | "body">;

/** Undefined when it is not there. */
async function walletOf(sql: Sql, deliveryId: string): Promise<string | undefined> {
  const [row] = await sql<{ wallet: string }[]>`
    select w.wallet from service.delivery d join service.webhook w on w.id = d.webhook_id
    where d.id = ${deliveryId}::bigint and d.test and d.state = 'pending' and d.taken_at is null`;
  return row?.wallet;
}

/** Undefined when it is somebody else's, or was made already. */
async function takeTest(sql: Sql, { chainId }: Writer, deliveryId: string): Promise<TestCall | undefined> {
  const [row] = await sql<TestCall[]>`
    update service.delivery d set taken_at = now()
    from service.webhook w, service.event e
    where d.id = ${deliveryId}::bigint and d.test and d.state = 'pending' and d.taken_at is null
      and w.id = d.webhook_id and w.chain_id = ${chainId} and w.state <> 'deleted' and e.seq = d.event_seq
    returning w.url, w.wallet, w.secret, e.id as "eventId", e.body,
      case when w.previous_secret_until > now() then w.previous_secret end as "previousSecret"`;
  return row;
}

async function settleTest(sql: Sql, deliveryId: string, { attempt }: Posted): Promise<void> {
  const delivered = attempt.outcome === "delivered";
  await sql`
    update service.delivery set attempts = attempts || ${JSON.stringify(attempt)}::text::jsonb, taken_at = null,
      state = ${delivered ? "delivered" : "undeliverable"}, delivered_at = case when ${delivered} then now() end
    where id = ${deliveryId}::bigint`;
}

/** Ends test calls that nobody waits for any more. @returns the ids of those still to be made. */
export async function findTests(sql: Sql, { chainId }: Writer): Promise<readonly string[]> {
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

/** @returns the function that makes a test call, if it is still to be made. It never rejects. */
export function createTester({
  sql,
  writer,
  poster,
  secretsOf,
  meter,
  log,
}: {
  sql: Sql;
  writer: Writer;
  poster: Poster;
  secretsOf: SecretsOf;
  meter: DeliveryMeter;
  log: Logger;
}) {
  const places = createPlaces(PLACES);

  async function call(deliveryId: string): Promise<void> {
    const taken = await takeTest(sql, writer, deliveryId);
    if (!taken) return;
    const posted = await poster.post(outgoing(taken.url, taken, secretsOf(taken)));
    if (!posted) return;
    meter.attempted(posted.attempt);
    await settleTest(sql, deliveryId, posted);
  }

  return async function test(deliveryId: string): Promise<void> {
    try {
      const wallet = await walletOf(sql, deliveryId);
      if (wallet === undefined) return;
      const place = await places.enter(wallet);
      const bell = setTimeout(place.stepAside, SLOW_MS);
      await call(deliveryId).finally(() => {
        clearTimeout(bell);
        place.leave();
      });
    } catch (error) {
      log.warn({ deliveryId, error: errorText(error) }, "a test call failed");
    }
  };
}

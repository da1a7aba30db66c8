/** What this proves: all old events that nobody needs are forgotten, whatever must be kept among them. */
import { expect, test } from "vitest";
import { prune } from "../../workers/webhooks/prune.ts";
import { CHAIN, openDeliveries } from "./support/deliveries.ts";

/** More than three rounds of events. */
const EVENTS = 6500;

test("events of one moment, of which every third is still to be delivered", async () => {
  const { sql, publish, subscribe } = await openDeliveries();
  await sql`insert into service.outbox (chain_id, final_block, final_time, passed_block) values (${CHAIN}, 1, 0, 1)`;
  const { id } = await subscribe("http://127.0.0.1:1/");
  await publish([id], EVENTS);
  await sql`delete from service.delivery where event_seq % 3 <> 0`;
  await sql`update service.event set created_at = now() - interval '31 days'`;
  const young = await publish([], 2);

  const [kept] = await sql<{ count: number }[]>`select count(*)::int as count from service.delivery`;
  expect(await prune(sql, { chainId: CHAIN })).toEqual({
    deliveries: 0,
    events: EVENTS - (kept?.count ?? 0),
  });
  const [left] = await sql<{ count: number }[]>`select count(*)::int as count from service.event`;
  expect(left?.count).toBe((kept?.count ?? 0) + young.length);
  expect(await prune(sql, { chainId: CHAIN })).toEqual({ deliveries: 0, events: 0 });
});

/** What this proves: pruning deletes old deliveries and events, but no undelivered ones. */
import { expect, test } from "vitest";
import { prune } from "../../workers/webhooks/prune.ts";
import { CHAIN, openDeliveries } from "./support/deliveries.ts";

test("after thirty days delivered rows and events without deliveries are deleted, and undelivered rows stay", async () => {
  const world = await openDeliveries();
  const { sql } = world;
  await sql`insert into service.outbox (chain_id, final_block, final_time, processed_block) values (${CHAIN}, 1, 0, 1)`;
  const { id } = await world.subscribe("http://127.0.0.1/old");
  const names = [
    "delivered",
    "cancelled",
    "undeliverable",
    "pending",
    "young",
    "alone",
    "unfinal",
    "reverted",
  ] as const;
  const events = await world.publish([id], names.length);
  const seqOf = async (name: (typeof names)[number]) => {
    const [row] = await sql<{ seq: string }[]>`
      select seq::text from service.event where id = ${events[names.indexOf(name)] ?? ""}`;
    return row?.seq ?? "";
  };
  const [testEvent] = await world.publish([id], 1, { test: true });
  for (const state of ["delivered", "cancelled", "undeliverable"] as const) {
    await sql`
      update service.delivery set state = ${state}, delivered_at = case ${state} when 'delivered' then now() end
      where event_seq = ${await seqOf(state)}`;
  }
  await sql`update service.event set block_number = 2 where seq = ${await seqOf("unfinal")}`;
  for (const gone of ["alone", "unfinal"] as const) {
    await sql`delete from service.delivery where event_seq = ${await seqOf(gone)}`;
  }
  await sql`
    insert into service.event (chain_id, id, key, type, block_number, parties, body, reverts)
    values (${CHAIN}, 'evt_reversal', 'reversal', 'event_reverted', 1, '{}', '{}', ${await seqOf("reverted")})`;
  await sql`delete from service.delivery where event_seq = ${await seqOf("reverted")}`;
  await sql`update service.delivery set created_at = now() - interval '31 days' where webhook_id = ${id}`;
  await sql`
    update service.event set created_at = now() - interval '31 days'
    where id = any(${[...events, testEvent ?? ""]}::text[])`;
  await sql`
    update service.delivery set created_at = now() - interval '29 days' where event_seq = ${await seqOf("young")}`;

  expect(await prune(sql, { chainId: CHAIN })).toEqual({ deliveries: 3, events: 4 });
  const left = await sql<{ id: string }[]>`
    select id from service.event where id = any(${[...events, testEvent ?? "", "evt_reversal"]}::text[]) order by seq`;
  const kept = ["undeliverable", "pending", "young", "unfinal", "reverted"] as const;
  expect(left.map((row) => row.id)).toEqual([
    ...kept.map((name) => events[names.indexOf(name)]),
    "evt_reversal",
  ]);
  expect((await world.deliveries(id)).map(({ state }) => state)).toEqual([
    "undeliverable",
    "pending",
    "pending",
  ]);
  expect(await prune(sql, { chainId: CHAIN })).toEqual({ deliveries: 0, events: 0 });
});

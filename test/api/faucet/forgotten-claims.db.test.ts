/** How long claims count, and when claims and client addresses are deleted. */
import { expect, test } from "vitest";
import { countClaims, forgetOldClaimants } from "../../../api/faucet/counts.ts";
import {
  ageClaim,
  api,
  chainId,
  clientOf,
  connection,
  createClaim,
  freeClaim,
  tryClaim,
  useDatabase,
} from "./support/database.ts";

useDatabase();

test("claims are counted for the last 24 hours and for the UTC day, without freed claims", async () => {
  const [freed, old, last] = [await createClaim(1), await createClaim(2), await createClaim(3)];
  await freeClaim(freed);
  await ageClaim(old, "24 hours");
  await ageClaim(last, "23 hours 59 minutes");
  const { last24h, today, dayEndsAt } = await countClaims(api.sql, chainId);
  expect({ last24h, today }).toEqual({ last24h: 1, today: 2 });
  const midnight = new Date();
  midnight.setUTCHours(24, 0, 0, 0);
  expect(dayEndsAt).toEqual(midnight);
});

test("a claim's client address is deleted after two days, and its expired slots too", async () => {
  const [old, recent] = [await createClaim(1), await createClaim(2)];
  await ageClaim(old, "48 hours 1 second");
  await ageClaim(recent, "47 hours");
  await forgetOldClaimants(api.sql);
  expect(await connection.sql`select client from service.faucet_claim order by claimed_at`).toEqual([
    { client: null },
    { client: clientOf(2) },
  ]);
  expect(await connection.sql`select distinct claim_id from service.faucet_slot`).toEqual([
    { claim_id: recent },
  ]);
  expect(JSON.stringify(await connection.sql`select * from service.faucet_slot`)).not.toContain(clientOf(1));
  // Both can claim again while old claims are deleted.
  const [results] = await Promise.all([
    Promise.all([tryClaim(1), tryClaim(2)]),
    ...Array.from({ length: 5 }, () => forgetOldClaimants(api.sql)),
  ]);
  expect(results.map(({ outcome }) => outcome)).toEqual(["claimed", "claimed"]);
});

test("only freed claims are deleted, with their transfers, after two days", async () => {
  const { sql } = connection;
  const [old, recent, paid] = [await createClaim(1), await createClaim(2), await createClaim(3)];
  await freeClaim(old);
  await freeClaim(recent);
  await ageClaim(paid, "30 days");
  await sql`update service.faucet_claim set freed_at = freed_at - interval '48 hours 1 second' where id = ${old}`;
  // More rows than one round deletes.
  await sql`
    with old as (
      insert into service.faucet_claim (chain_id, faucet, wallet, client, awaited_until, freed_at)
      select chain_id, faucet, wallet, client, awaited_until, now() - interval '3 days'
      from service.faucet_claim, generate_series(1, 2500) where id = ${old} returning id)
    insert into service.service_transaction (chain_id, sender, purpose, claim_id, "to", data, value, failure_code, failure_message, refused_at)
    select e.chain_id, e.sender, e.purpose, old.id, e."to", e.data, e.value, e.failure_code, e.failure_message, e.refused_at
    from old, service.service_transaction e where e.claim_id = ${old}`;
  await Promise.all([forgetOldClaimants(api.sql), forgetOldClaimants(api.sql)]);
  expect(new Set((await sql`select id from service.faucet_claim`).map(({ id }) => id))).toEqual(
    new Set([recent, paid]),
  );
  expect(
    new Set(
      (await sql`select claim_id from service.service_transaction_progress`).map(({ claim_id }) => claim_id),
    ),
  ).toEqual(new Set([recent, paid]));
});

/** How a claim ends: paid, freed, or failed for good; and what its callers read. */
import { describe, expect, test } from "vitest";
import { createClaimWaiter } from "../../../api/faucet/claim-waiter.ts";
import { type Claim, noteClaimReported, readClaims } from "../../../api/faucet/claims.ts";
import { countClaims, forgetOldClaimants } from "../../../api/faucet/counts.ts";
import { atEnd } from "../../support/cleanup.ts";
import {
  api,
  chainId,
  clientOf,
  connection,
  countRows,
  createClaim,
  databaseUrl,
  freeClaim,
  recordMined,
  recordSigned,
  tryClaim,
  useDatabase,
  walletOf,
} from "./support/database.ts";

useDatabase();

async function read(id: string): Promise<Claim> {
  const [found] = await readClaims(api.sql, [id]);
  if (!found) throw new Error(`no claim ${id}`);
  return found;
}

/** Moves a claim and its slots into the past. */
async function age(id: string, interval: string): Promise<void> {
  await connection.sql`update service.faucet_claim set claimed_at = claimed_at - ${interval}::interval where id = ${id}`;
  await connection.sql`update service.faucet_slot set until = until - ${interval}::interval where claim_id = ${id}`;
}

describe("a claim without a signed transfer", () => {
  test("can be freed: both transfers fail, and wallet, client and day are free again", async () => {
    const id = await createClaim(1);
    expect(await freeClaim(id)).toBe(true);
    expect(await countRows()).toEqual({ claims: 1, freed: 1, slots: 0, day: 0, serviceTransactions: 2 });
    expect(await read(id)).toMatchObject({ state: "failed", code: "claim_expired", freed: true });
    expect((await tryClaim(1)).outcome).toBe("claimed");
    expect(await countRows()).toMatchObject({ claims: 2, slots: 2, day: 1 });
  });

  test("is freed once, and a second attempt does not affect the next claim", async () => {
    const id = await createClaim(1);
    expect((await Promise.all([freeClaim(id), freeClaim(id), freeClaim(id)])).filter(Boolean)).toHaveLength(
      1,
    );
    await createClaim(1);
    expect(await freeClaim(id)).toBe(false);
    expect(await countRows()).toMatchObject({ slots: 2, day: 1 });
  });

  test("is subtracted from the count of the day of the claim", async () => {
    const id = await createClaim(1);
    await connection.sql`update service.faucet_day set day = day - 1`;
    await connection.sql`update service.faucet_claim set claimed_at = claimed_at - interval '1 day'`;
    await createClaim(2);
    expect(await freeClaim(id)).toBe(true);
    expect(await connection.sql`select claims from service.faucet_day order by day`).toEqual([
      { claims: 0 },
      { claims: 1 },
    ]);
  });

  test("does not release slots that a later claim has taken over", async () => {
    const id = await createClaim(1);
    await age(id, "25 hours");
    await createClaim(1, { client: clientOf(2) });
    await freeClaim(id);
    expect((await tryClaim(1)).outcome).toBe("wallet_limited");
    expect((await tryClaim(3, { client: clientOf(1) })).outcome).toBe("claimed");
  });

  test("an unknown id frees nothing", async () => {
    expect(await freeClaim("00000000-0000-4000-8000-000000000000")).toBe(false);
  });
});

describe("a claim with a signed transfer", () => {
  test.each(["faucet_ether", "faucet_usdc"] as const)("%s: is not freed", async (purpose) => {
    const id = await createClaim(1);
    await recordSigned(id, purpose);
    expect(await freeClaim(id)).toBe(false);
    expect(await countRows()).toMatchObject({ freed: 0, slots: 2, day: 1 });
    expect((await read(id)).state).toBe("open");
    expect((await tryClaim(1)).outcome).toBe("wallet_limited");
  });

  test("signing and freeing at the same moment: exactly one succeeds", async () => {
    const ids = await Promise.all(Array.from({ length: 30 }, (_, n) => createClaim(n)));
    const exclusive = await Promise.all(
      ids.map(async (id, n) => {
        const [signed, freed] = await Promise.all([
          recordSigned(id, n % 2 === 0 ? "faucet_ether" : "faucet_usdc", n).then(
            () => true,
            () => false,
          ),
          freeClaim(id),
        ]);
        return signed !== freed;
      }),
    );
    expect(exclusive).toEqual(ids.map(() => true));
    const { freed, slots, day } = await countRows();
    expect({ slots, day }).toEqual({ slots: 2 * (30 - freed), day: 30 - freed });
  });
});

describe("the state of a claim", () => {
  test("is paid once both transfers are mined", async () => {
    const id = await createClaim(1);
    await recordMined(id, "faucet_ether", 7);
    expect((await read(id)).state).toBe("open");
    await recordMined(id, "faucet_usdc", 8);
    expect(await read(id)).toMatchObject({ id, chainId, wallet: walletOf(1), state: "paid" });
    await connection.sql`update service.service_transaction set state = 'confirmed', final_at = now()`;
    expect((await read(id)).state).toBe("paid");
  });

  test("with a reverted transfer is open until its block is final, and the slots stay taken", async () => {
    const id = await createClaim(1);
    await recordMined(id, "faucet_ether", 7);
    await recordMined(id, "faucet_usdc", 7);
    await connection.sql`
      update service.service_transaction set state = 'failed', failure_code = 'onchain_revert', failure_message = 'm'
      where purpose = 'faucet_ether'`;
    expect((await read(id)).state).toBe("open");
    await connection.sql`update service.service_transaction set final_at = now() where purpose = 'faucet_ether'`;
    expect(await read(id)).toMatchObject({
      state: "failed",
      code: "onchain_revert",
      message: "m",
      freed: false,
    });
    expect(await freeClaim(id)).toBe(false);
    expect(await countRows()).toMatchObject({ slots: 2, day: 1 });
  });

  test("is returned to every caller that waits for it", async () => {
    const waiter = createClaimWaiter(databaseUrl, api.sql);
    atEnd(() => waiter.close());
    const [paid, freed, open] = await Promise.all([createClaim(1), createClaim(2), createClaim(3)]);
    const waiting = Promise.all([
      waiter.wait(paid, 20_000),
      waiter.wait(paid, 20_000),
      waiter.wait(freed, 20_000),
      waiter.wait(open, 50),
    ]);
    await freeClaim(freed);
    await recordMined(paid, "faucet_usdc", 7);
    await recordMined(paid, "faucet_ether", 8);
    expect((await waiting).map(({ state }) => state)).toEqual(["paid", "paid", "failed", "open"]);
  });
});

test("claims are counted for the last 24 hours and for the UTC day, without freed claims", async () => {
  const [freed, old, last] = [await createClaim(1), await createClaim(2), await createClaim(3)];
  await freeClaim(freed);
  await age(old, "24 hours");
  await age(last, "23 hours 59 minutes");
  const { last24h, today, dayEndsAt } = await countClaims(api.sql, chainId);
  expect({ last24h, today }).toEqual({ last24h: 1, today: 2 });
  const midnight = new Date();
  midnight.setUTCHours(24, 0, 0, 0);
  expect(dayEndsAt).toEqual(midnight);
});

test("a claim's client address is deleted after two days, and its expired slots too", async () => {
  const [old, recent] = [await createClaim(1), await createClaim(2)];
  await age(old, "48 hours 1 second");
  await age(recent, "47 hours");
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
  await age(paid, "30 days");
  await sql`update service.faucet_claim set freed_at = freed_at - interval '48 hours 1 second' where id = ${old}`;
  // More rows than one round deletes.
  await sql`
    with old as (
      insert into service.faucet_claim (chain_id, faucet, wallet, client, awaited_until, freed_at)
      select chain_id, faucet, wallet, client, awaited_until, now() - interval '3 days'
      from service.faucet_claim, generate_series(1, 2500) where id = ${old} returning id)
    insert into service.service_transaction (chain_id, sender, purpose, claim_id, "to", data, value, state, failure_code, failure_message, final_at)
    select e.chain_id, e.sender, e.purpose, old.id, e."to", e.data, e.value, e.state, e.failure_code, e.failure_message, now()
    from old, service.service_transaction e where e.claim_id = ${old}`;
  await Promise.all([forgetOldClaimants(api.sql), forgetOldClaimants(api.sql)]);
  expect(new Set((await sql`select id from service.faucet_claim`).map(({ id }) => id))).toEqual(
    new Set([recent, paid]),
  );
  expect(
    new Set((await sql`select claim_id from service.service_transaction`).map(({ claim_id }) => claim_id)),
  ).toEqual(new Set([recent, paid]));
});

test("the counts agree after concurrent claiming, signing, freeing and deleting", async () => {
  const { sql } = connection;
  let nonce = 0;
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * below);
  };
  const ids: string[] = [];
  const anyId = () => ids[random(ids.length)] ?? "00000000-0000-4000-8000-000000000000";
  async function step(): Promise<void> {
    switch (random(5)) {
      case 0:
        await freeClaim(anyId());
        return;
      case 1:
        nonce += 1;
        await recordSigned(anyId(), "faucet_ether", nonce).catch((error) => {
          if (!/nothing to sign/.test(String(error))) throw error;
        });
        return;
      case 2:
        await sql`update service.faucet_slot set until = until - interval '3 days' where claim_id = ${anyId()} and kind = 'wallet'`;
        await forgetOldClaimants(api.sql);
        return;
      default: {
        const result = await tryClaim(random(12), { client: clientOf(random(12)), waitMs: random(2) });
        if (result.outcome === "claimed") ids.push(result.claimId);
      }
    }
  }
  for (let round = 0; round < 20; round += 1) await Promise.all(Array.from({ length: 20 }, step));
  const { claims, freed, day, serviceTransactions } = await countRows();
  expect(freed).toBeGreaterThan(0);
  expect({ day, serviceTransactions }).toEqual({ day: claims - freed, serviceTransactions: 2 * claims });
  // A freed claim has neither slots nor transactions.
  expect(
    await sql`select 1 from service.faucet_slot s join service.faucet_claim c on c.id = s.claim_id where c.freed_at is not null`,
  ).toHaveLength(0);
  expect(
    await sql`select 1 from service.transaction t join service.service_transaction e on e.id = t.service_transaction_id
      join service.faucet_claim c on c.id = e.claim_id where c.freed_at is not null`,
  ).toHaveLength(0);
});

test("the time at which a claim's result was received is recorded once", async () => {
  const id = await createClaim(1);
  await noteClaimReported(api.sql, id);
  const [first] = await connection.sql`select told_at from service.faucet_claim`;
  await noteClaimReported(api.sql, id);
  expect(await connection.sql`select told_at from service.faucet_claim`).toEqual([first]);
});

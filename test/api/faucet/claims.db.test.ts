/** What becomes of a claim: paid, taken back with proof, failed for good; who waits for it hears of it. */
import { describe, expect, test } from "vitest";
import { type Claim, noteClaimTold, readClaims } from "../../../api/faucet/claims.ts";
import { countClaims, forgetOldClaimants } from "../../../api/faucet/counts.ts";
import { createClaimWaiter } from "../../../api/faucet/waiter.ts";
import { atEnd } from "../../support/cleanup.ts";
import {
  books,
  chainId,
  claim,
  claimed,
  clientOf,
  connection,
  databaseUrl,
  freeClaim,
  mine,
  sign,
  walletOf,
  withDesk,
} from "./support/desk.ts";

withDesk();

async function read(id: string): Promise<Claim> {
  const [found] = await readClaims(connection.db, [id]);
  if (!found) throw new Error(`no claim ${id}`);
  return found;
}

/** Moves a claim into the past, and its slots with it. */
async function age(id: string, interval: string): Promise<void> {
  await connection.sql`update service.faucet_claim set claimed_at = claimed_at - ${interval}::interval where id = ${id}`;
  await connection.sql`update service.faucet_slot set until = until - ${interval}::interval where claim_id = ${id}`;
}

describe("a claim of which nothing was signed", () => {
  test("is taken back whole: both transfers failed, wallet, client and day free again", async () => {
    const id = await claimed(1);
    expect(await freeClaim(id)).toBe(true);
    expect(await books()).toEqual({ claims: 1, freed: 1, slots: 0, day: 0, errands: 2 });
    expect(await read(id)).toMatchObject({ state: "failed", code: "claim_expired", freed: true });
    expect((await claim(1)).outcome).toBe("claimed");
    expect(await books()).toMatchObject({ claims: 2, slots: 2, day: 1 });
  });

  test("is taken back once, and takes nothing from the claim after it", async () => {
    const id = await claimed(1);
    expect((await Promise.all([freeClaim(id), freeClaim(id), freeClaim(id)])).filter(Boolean)).toHaveLength(
      1,
    );
    await claimed(1);
    expect(await freeClaim(id)).toBe(false);
    expect(await books()).toMatchObject({ slots: 2, day: 1 });
  });

  test("gives its place back to the day that it was made on", async () => {
    const id = await claimed(1);
    await connection.sql`update service.faucet_day set day = day - 1`;
    await connection.sql`update service.faucet_claim set claimed_at = claimed_at - interval '1 day'`;
    await claimed(2);
    expect(await freeClaim(id)).toBe(true);
    expect(await connection.sql`select claims from service.faucet_day order by day`).toEqual([
      { claims: 0 },
      { claims: 1 },
    ]);
  });

  test("leaves its slots to a later claim that has taken them over", async () => {
    const id = await claimed(1);
    await age(id, "25 hours");
    await claimed(1, { client: clientOf(2) });
    await freeClaim(id);
    expect((await claim(1)).outcome).toBe("wallet_limited");
    expect((await claim(3, { client: clientOf(1) })).outcome).toBe("claimed");
  });

  test("is unknown: nothing is taken back", async () => {
    expect(await freeClaim("00000000-0000-4000-8000-000000000000")).toBe(false);
  });
});

describe("a claim of which something was signed", () => {
  test.each(["faucet_ether", "faucet_usdc"] as const)("as %s keeps its slots", async (purpose) => {
    const id = await claimed(1);
    await sign(id, purpose);
    expect(await freeClaim(id)).toBe(false);
    expect(await books()).toMatchObject({ freed: 0, slots: 2, day: 1 });
    expect((await read(id)).state).toBe("open");
    expect((await claim(1)).outcome).toBe("wallet_limited");
  });

  test("at the moment at which it would be taken back is either signed or freed", async () => {
    const ids = await Promise.all(Array.from({ length: 30 }, (_, n) => claimed(n)));
    const fates = await Promise.all(
      ids.map(async (id, n) => {
        const [signed, freed] = await Promise.all([
          sign(id, n % 2 === 0 ? "faucet_ether" : "faucet_usdc", n).then(
            () => true,
            () => false,
          ),
          freeClaim(id),
        ]);
        return signed !== freed;
      }),
    );
    expect(fates).toEqual(ids.map(() => true));
    const { freed, slots, day } = await books();
    expect({ slots, day }).toEqual({ slots: 2 * (30 - freed), day: 30 - freed });
  });
});

describe("the outcome", () => {
  test("is paid once both transfers are in a block", async () => {
    const id = await claimed(1);
    await mine(id, "faucet_ether", 7);
    expect((await read(id)).state).toBe("open");
    await mine(id, "faucet_usdc", 8);
    expect(await read(id)).toMatchObject({ id, chainId, wallet: walletOf(1), state: "paid" });
    await connection.sql`update service.errand set state = 'confirmed', final_at = now()`;
    expect((await read(id)).state).toBe("paid");
  });

  test("of a transfer that reverted is open until its block is deep enough, and keeps the slots", async () => {
    const id = await claimed(1);
    await mine(id, "faucet_ether", 7);
    await mine(id, "faucet_usdc", 7);
    await connection.sql`
      update service.errand set state = 'failed', failure_code = 'onchain_revert', failure_message = 'm'
      where purpose = 'faucet_ether'`;
    expect((await read(id)).state).toBe("open");
    await connection.sql`update service.errand set final_at = now() where purpose = 'faucet_ether'`;
    expect(await read(id)).toMatchObject({
      state: "failed",
      code: "onchain_revert",
      message: "m",
      freed: false,
    });
    expect(await freeClaim(id)).toBe(false);
    expect(await books()).toMatchObject({ slots: 2, day: 1 });
  });

  test("reaches whoever waits for it", async () => {
    const waiter = createClaimWaiter(databaseUrl, connection.db);
    atEnd(() => waiter.close());
    const [paid, freed, open] = await Promise.all([claimed(1), claimed(2), claimed(3)]);
    const waiting = Promise.all([
      waiter.wait(paid, 20_000),
      waiter.wait(paid, 20_000),
      waiter.wait(freed, 20_000),
      waiter.wait(open, 50),
    ]);
    await freeClaim(freed);
    await mine(paid, "faucet_usdc", 7);
    await mine(paid, "faucet_ether", 8);
    expect((await waiting).map(({ state }) => state)).toEqual(["paid", "paid", "failed", "open"]);
  });
});

test("claims are counted by the last 24 hours and by the UTC day; those taken back are not", async () => {
  const [freed, old, last] = [await claimed(1), await claimed(2), await claimed(3)];
  await freeClaim(freed);
  await age(old, "24 hours");
  await age(last, "23 hours 59 minutes");
  const { last24h, today, dayEndsAt } = await countClaims(connection.db, chainId);
  expect({ last24h, today }).toEqual({ last24h: 1, today: 2 });
  const midnight = new Date();
  midnight.setUTCHours(24, 0, 0, 0);
  expect(dayEndsAt).toEqual(midnight);
});

test("a client's address is forgotten after two days, and the slots that nobody holds with it", async () => {
  const [old, recent] = [await claimed(1), await claimed(2)];
  await age(old, "48 hours 1 second");
  await age(recent, "47 hours");
  await forgetOldClaimants(connection.db);
  expect(await connection.sql`select client from service.faucet_claim order by claimed_at`).toEqual([
    { client: null },
    { client: clientOf(2) },
  ]);
  expect(await connection.sql`select distinct claim_id from service.faucet_slot`).toEqual([
    { claim_id: recent },
  ]);
  expect(JSON.stringify(await connection.sql`select * from service.faucet_slot`)).not.toContain(clientOf(1));
  // Both may claim again, while others forget.
  const [gates] = await Promise.all([
    Promise.all([claim(1), claim(2)]),
    ...Array.from({ length: 5 }, () => forgetOldClaimants(connection.db)),
  ]);
  expect(gates.map(({ outcome }) => outcome)).toEqual(["claimed", "claimed"]);
});

test("claims that were given back are forgotten after two days with their transfers, and no others", async () => {
  const { sql } = connection;
  const [old, recent, paid] = [await claimed(1), await claimed(2), await claimed(3)];
  await freeClaim(old);
  await freeClaim(recent);
  await age(paid, "30 days");
  await sql`update service.faucet_claim set freed_at = freed_at - interval '48 hours 1 second' where id = ${old}`;
  // More than are forgotten in one round.
  await sql`
    with old as (
      insert into service.faucet_claim (chain_id, faucet, wallet, client, awaited_until, freed_at)
      select chain_id, faucet, wallet, client, awaited_until, now() - interval '3 days'
      from service.faucet_claim, generate_series(1, 2500) where id = ${old} returning id)
    insert into service.errand (chain_id, sender, purpose, claim_id, "to", data, value, state, failure_code, failure_message, final_at)
    select e.chain_id, e.sender, e.purpose, old.id, e."to", e.data, e.value, e.state, e.failure_code, e.failure_message, now()
    from old, service.errand e where e.claim_id = ${old}`;
  await Promise.all([forgetOldClaimants(connection.db), forgetOldClaimants(connection.db)]);
  expect(new Set((await sql`select id from service.faucet_claim`).map(({ id }) => id))).toEqual(
    new Set([recent, paid]),
  );
  expect(new Set((await sql`select claim_id from service.errand`).map(({ claim_id }) => claim_id))).toEqual(
    new Set([recent, paid]),
  );
});

test("whatever is claimed, signed, taken back and forgotten at once, the books agree", async () => {
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
        await sign(anyId(), "faucet_ether", nonce).catch((error) => {
          if (!/nothing to sign/.test(String(error))) throw error;
        });
        return;
      case 2:
        await sql`update service.faucet_slot set until = until - interval '3 days' where claim_id = ${anyId()} and kind = 'wallet'`;
        await forgetOldClaimants(connection.db);
        return;
      default: {
        const gate = await claim(random(12), { client: clientOf(random(12)), waitMs: random(2) });
        if (gate.outcome === "claimed") ids.push(gate.claimId);
      }
    }
  }
  for (let round = 0; round < 20; round += 1) await Promise.all(Array.from({ length: 20 }, step));
  const { claims, freed, day, errands } = await books();
  expect(freed).toBeGreaterThan(0);
  expect({ day, errands }).toEqual({ day: claims - freed, errands: 2 * claims });
  // A slot is of a claim that stands, and a claim that was taken back has neither slots nor transactions.
  expect(
    await sql`select 1 from service.faucet_slot s join service.faucet_claim c on c.id = s.claim_id where c.freed_at is not null`,
  ).toHaveLength(0);
  expect(
    await sql`select 1 from service.transaction t join service.errand e on e.id = t.errand_id
      join service.faucet_claim c on c.id = e.claim_id where c.freed_at is not null`,
  ).toHaveLength(0);
});

test("told is told once", async () => {
  const id = await claimed(1);
  await noteClaimTold(connection.db, id);
  const [first] = await connection.sql`select told_at from service.faucet_claim`;
  await noteClaimTold(connection.db, id);
  expect(await connection.sql`select told_at from service.faucet_claim`).toEqual([first]);
});

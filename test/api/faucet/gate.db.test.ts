/** The faucet's gate: what passes it, once; what limits a claim, until when; and what is given back. */
import { beforeAll, describe, expect, test } from "vitest";
import { type ClaimWish, claimFaucet, type Gate } from "../../../api/faucet/admission.ts";
import { noteClaimTold, stopAwaiting } from "../../../api/faucet/claims.ts";
import { faucetTerms } from "../../../api/faucet/terms.ts";
import { type Connection, connect } from "../../../lib/db/connect.ts";
import { atEnd } from "../../support/cleanup.ts";
import {
  books,
  chainId,
  claim,
  claimed,
  clientOf,
  connection,
  databaseUrl,
  faucet,
  outcomes,
  plenty,
  walletOf,
  wish,
  withDesk,
} from "./support/desk.ts";

withDesk();

const many = (count: number, one: (n: number) => Promise<Gate>): Promise<Gate[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => one(n)));
const grant = faucetTerms.wei;

async function passed(n: number, more: Partial<ClaimWish> = {}) {
  const gate = await claim(n, more);
  if (!("claimId" in gate)) throw new Error(gate.outcome);
  return gate;
}

/** Two processes, as the gate sees them. */
let pools: Connection[] = [];
beforeAll(() => {
  pools = [1, 2].map((n) => connect(databaseUrl, { name: `pool-${n}` }));
  atEnd(async () => {
    await Promise.all(pools.map((pool) => pool.close()));
  });
});
const pool = (n: number): Connection => pools[n % 2] ?? connection;

describe("claims of the same moment", () => {
  test("a hundred of one wallet and client, through two pools: one passes, and two transfers are promised", async () => {
    const gates = await many(100, (n) => claim(1, {}, pool(n)));
    expect(outcomes(gates)).toEqual({ claimed: 1, wallet_limited: 99 });
    expect(await books()).toMatchObject({ claims: 1, slots: 2, day: 1, errands: 2 });
    const errands = await connection.sql`
      select purpose, sender, "to", value::text, left(data, 10) as selector, state from service.errand order by purpose`;
    expect(errands).toEqual([
      {
        purpose: "faucet_ether",
        sender: faucet,
        to: walletOf(1),
        value: String(grant),
        selector: "0x",
        state: "accepted",
      },
      expect.objectContaining({ purpose: "faucet_usdc", value: "0", selector: "0x40c10f19" }),
    ]);
  });

  test("a hundred wallets of one client: one passes", async () => {
    const gates = await many(100, (n) => claim(n, { client: clientOf(1) }, pool(n)));
    expect(outcomes(gates)).toEqual({ claimed: 1, client_limited: 99 });
    expect(await books()).toMatchObject({ claims: 1, slots: 2, day: 1, errands: 2 });
  });

  test("a hundred clients of one wallet: one passes", async () => {
    const gates = await many(100, (n) => claim(1, { client: clientOf(n) }, pool(n)));
    expect(outcomes(gates)).toEqual({ claimed: 1, wallet_limited: 99 });
    expect(await books()).toMatchObject({ claims: 1, slots: 2, day: 1, errands: 2 });
  });

  test("a hundred of as many: as many pass as the day has", async () => {
    const gates = await many(100, (n) => claim(n, {}, pool(n)));
    expect(outcomes(gates)).toEqual({ claimed: 50, day_full: 50 });
    expect(await books()).toMatchObject({ claims: 50, slots: 100, day: 50, errands: 100 });
  });

  test("a hundred at a faucet that has enough for seven and a half: seven pass, and no slot is lost to the others", async () => {
    const funds = { block: 1000n, balance: 7n * grant + grant / 2n, gas: 1000n };
    const gates = await many(100, (n) => claim(n, { funds }, pool(n)));
    expect(outcomes(gates)).toEqual({ claimed: 7, out_of_eth: 93 });
    expect(await books()).toMatchObject({ claims: 7, slots: 14, day: 7, errands: 14 });
  });

  test("wallets and clients that cross each other wait for nobody in a circle", async () => {
    const gates = await many(200, (n) => claim(n % 10, { client: clientOf((n * 7) % 10) }, pool(n)));
    const { claimed: passed = 0 } = outcomes(gates);
    expect(passed).toBeGreaterThan(0);
    expect(await books()).toMatchObject({ claims: passed, slots: 2 * passed, day: passed });
  });
});

describe("a limit", () => {
  /** The gate's answer with the claim's slots moved to end so long from now, at one frozen moment; nothing is kept. */
  async function atOffset(offset: string, n: number, client: string): Promise<Gate> {
    let gate: Gate | undefined;
    const undo = new Error("undo");
    await connection.sql
      .begin(async (tx) => {
        await tx`update service.faucet_slot set until = date_trunc('milliseconds', now()) + ${offset}::interval`;
        gate = await claimFaucet(tx, wish(n, { client }));
        throw undo;
      })
      .catch((error: unknown) => {
        if (error !== undo) throw error;
      });
    if (!gate) throw new Error("no answer");
    return gate;
  }

  test.each([
    ["of the wallet", 1, clientOf(2), "wallet_limited"],
    ["of the client", 2, clientOf(1), "client_limited"],
  ])("%s ends to the millisecond", async (_, n, client, outcome) => {
    await claimed(1);
    expect(await atOffset("1 millisecond", n, client)).toMatchObject({ outcome, secondsLeft: 1 });
    const later = await atOffset("90 seconds", n, client);
    if (!("secondsLeft" in later)) throw new Error(later.outcome);
    expect(later.secondsLeft).toBeGreaterThan(80);
    expect(later.secondsLeft).toBeLessThanOrEqual(90);
    expect(await atOffset("0", n, client)).toMatchObject({ outcome: "claimed" });
  });

  test("of wallet and client ends 24 hours after the claim", async () => {
    await claimed(1);
    const [row] = await connection.sql<{ ms: number }[]>`
      select extract(epoch from claimed_at)::float8 * 1000 as ms from service.faucet_claim`;
    const until = new Date((row?.ms ?? 0) + 24 * 3_600_000);
    for (const gate of [
      await claim(1),
      await claim(1, { client: clientOf(2) }),
      await claim(2, { client: clientOf(1) }),
    ]) {
      if (!("until" in gate)) throw new Error(gate.outcome);
      expect(gate.until).toEqual(until);
      expect(gate.secondsLeft).toBeGreaterThan(86_390);
      expect(gate.secondsLeft).toBeLessThanOrEqual(86_400);
    }
  });

  test("of the day ends when the UTC day does, and the next day has its own", async () => {
    await connection.sql`
      insert into service.faucet_day (chain_id, day, claims) values (${chainId}, (now() at time zone 'utc')::date, 50)`;
    const gate = await claim(1);
    if (gate.outcome !== "day_full") throw new Error(gate.outcome);
    const midnight = new Date();
    midnight.setUTCHours(24, 0, 0, 0);
    expect(gate.until).toEqual(midnight);
    expect(Math.abs(gate.secondsLeft - (midnight.getTime() - Date.now()) / 1000)).toBeLessThan(5);
    await connection.sql`update service.faucet_day set day = day - 1`;
    expect(await claim(1)).toMatchObject({ outcome: "claimed" });
    expect(await connection.sql`select claims from service.faucet_day order by day`).toEqual([
      { claims: 50 },
      { claims: 1 },
    ]);
  });

  test("is told as the wallet's before the client's before the day's", async () => {
    await claimed(1);
    await claimed(2);
    await connection.sql`update service.faucet_day set claims = 50`;
    expect((await claim(1, { client: clientOf(2) })).outcome).toBe("wallet_limited");
    expect((await claim(3, { client: clientOf(2) })).outcome).toBe("client_limited");
    expect((await claim(3)).outcome).toBe("day_full");
  });

  test("is told with the moment at which nothing limits the claim any more", async () => {
    await claimed(1);
    await claimed(2);
    await connection.sql`
      update service.faucet_slot set until = now() + interval '1 hour' where subject = ${walletOf(1)}`;
    expect(await claim(1, { client: clientOf(3) })).toMatchObject({ secondsLeft: 3600 });
    const both = await claim(1, { client: clientOf(2) });
    expect(both).toMatchObject({ outcome: "wallet_limited" });
    expect("secondsLeft" in both && both.secondsLeft).toBeGreaterThan(86_300);
  });

  test("is a rest for a client of which five claims in ten minutes were for wallets that cannot be paid", async () => {
    const { sql } = connection;
    const refused = async (n: number, code: string) => {
      const id = await claimed(n, { client: clientOf(1) });
      await sql`select service.free_claim(${id}, ${code}, 'refused')`;
      return id;
    };
    const first = await refused(1, "onchain_revert");
    await refused(2, "claim_expired");
    for (const n of [3, 4, 5]) await refused(n, "onchain_revert");
    await sql`update service.faucet_claim set freed_at = freed_at - interval '9 minutes' where id = ${first}`;
    await refused(6, "onchain_revert");
    const gate = await claim(7, { client: clientOf(1) });
    expect(gate.outcome).toBe("client_rests");
    expect("secondsLeft" in gate && gate.secondsLeft).toBeGreaterThan(50);
    expect("secondsLeft" in gate && gate.secondsLeft).toBeLessThanOrEqual(60);
    expect((await claim(7)).outcome).toBe("claimed");
    await sql`update service.faucet_claim set freed_at = freed_at - interval '61 seconds' where id = ${first}`;
    expect((await claim(8, { client: clientOf(1) })).outcome).toBe("claimed");
  });

  test("of one chain is none of another's", async () => {
    await claimed(1);
    expect(await claim(1, { chainId: 31337 })).toMatchObject({ outcome: "claimed" });
  });
});

describe("a claim whose outcome nobody was told", () => {
  test("is joined by its wallet and client once the call that made it has stopped waiting, by one at a time", async () => {
    const first = await passed(1);
    expect((await claim(1)).outcome).toBe("wallet_limited");
    await stopAwaiting(connection.db, first);
    const gates = await many(20, () => claim(1));
    expect(outcomes(gates)).toEqual({ joined: 1, wallet_limited: 19 });
    expect(gates).toContainEqual(expect.objectContaining({ outcome: "joined", claimId: first.claimId }));
    expect(await books()).toMatchObject({ claims: 1, errands: 2, day: 1 });
  });

  test("stays with the call that has joined it, whenever the one before says that it waits no more", async () => {
    const first = await passed(1, { waitMs: 1 });
    const second = await passed(1);
    expect(second.claimId).toBe(first.claimId);
    await stopAwaiting(connection.db, first);
    expect((await claim(1)).outcome).toBe("wallet_limited");
    await stopAwaiting(connection.db, second);
    expect((await claim(1)).outcome).toBe("joined");
  });

  test("is joined when the process that waited for it died", async () => {
    const id = await claimed(1, { waitMs: 1 });
    expect(await claim(1)).toMatchObject({ outcome: "joined", claimId: id });
  });

  test("is joined by nobody else, and by nobody once it was told", async () => {
    const id = await claimed(1, { waitMs: 1 });
    expect((await claim(1, { client: clientOf(2) })).outcome).toBe("wallet_limited");
    expect((await claim(2, { client: clientOf(1) })).outcome).toBe("client_limited");
    await noteClaimTold(connection.db, id);
    expect((await claim(1)).outcome).toBe("wallet_limited");
  });

  test("is joined while the faucet is stopped or empty, for it was promised", async () => {
    const id = await claimed(1, { waitMs: 1 });
    await connection.sql`insert into service.stop (scope, subject, reason) values ('wallet', ${faucet}, 'test')`;
    expect(await claim(1, { funds: undefined })).toMatchObject({ outcome: "joined", claimId: id });
    expect((await claim(2)).outcome).toBe("stopped");
  });
});

describe("the faucet's ether", () => {
  const justOne = { block: 100n, balance: grant + 2000n, gas: 1000n };

  test("has to be known for a new claim, and for nothing else", async () => {
    expect((await claim(1, { funds: undefined })).outcome).toBe("funds_unknown");
    await claimed(1);
    expect((await claim(1, { funds: undefined })).outcome).toBe("wallet_limited");
  });

  test("must cover the grant and the gas of both transfers", async () => {
    expect((await claim(1, { funds: { ...justOne, balance: justOne.balance - 1n } })).outcome).toBe(
      "out_of_eth",
    );
    expect(await books()).toEqual({ claims: 0, freed: 0, slots: 0, day: 0, errands: 0 });
    expect((await claim(1, { funds: justOne })).outcome).toBe("claimed");
  });

  test("that was promised and is in no block up to the balance's is spent already", async () => {
    const id = await claimed(1, { funds: justOne });
    expect((await claim(2, { funds: justOne })).outcome).toBe("out_of_eth");
    const { sql } = connection;
    const mined = (block: number) => sql`
      update service.errand set state = 'mined', tx_hash = ${`0x${"1".repeat(64)}`}, block_hash = ${`0x${"2".repeat(64)}`},
        block_number = ${block} where claim_id = ${id}`;
    await mined(101);
    expect((await claim(2, { funds: justOne })).outcome).toBe("out_of_eth");
    // The balance shows what was mined up to its block.
    await mined(100);
    expect((await claim(2, { funds: justOne })).outcome).toBe("claimed");
  });
});

test("a faucet that is stopped makes no new claim", async () => {
  await connection.sql`insert into service.stop (scope, subject, reason) values ('global', '', 'test')`;
  expect((await claim(1, { funds: plenty })).outcome).toBe("stopped");
  expect(await books()).toMatchObject({ claims: 0, slots: 0 });
});

/** Which claims the faucet accepts, what limits a claim and until when, and which claims a repeated call joins. */
import { beforeAll, describe, expect, test } from "vitest";
import { type Admission, type ClaimRequest, claimFaucet } from "../../../api/faucet/admission.ts";
import { noteClaimReported, stopAwaiting } from "../../../api/faucet/claims.ts";
import { faucetTerms } from "../../../api/faucet/terms.ts";
import { asApi } from "../../../lib/db/api-role.ts";
import { type Connection, connect } from "../../../lib/db/connect.ts";
import { atEnd } from "../../support/cleanup.ts";
import {
  ampleFunds,
  api,
  chainId,
  claimRequest,
  clientOf,
  connection,
  countOutcomes,
  countRows,
  createClaim,
  databaseUrl,
  faucet,
  mineTransfer,
  signTransfers,
  tryClaim,
  useDatabase,
  walletOf,
} from "./support/database.ts";

useDatabase();

const runMany = (count: number, one: (n: number) => Promise<Admission>): Promise<Admission[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => one(n)));
const grant = faucetTerms.wei;

async function claimOrJoin(n: number, more: Partial<ClaimRequest> = {}) {
  const result = await tryClaim(n, more);
  if (!("claimId" in result)) throw new Error(result.outcome);
  return result;
}

/** Two connection pools, as two api processes would have. */
let pools: Connection[] = [];
beforeAll(() => {
  pools = [1, 2].map((n) => connect(asApi(databaseUrl), { name: `pool-${n}` }));
  atEnd(async () => {
    await Promise.all(pools.map((pool) => pool.close()));
  });
});
const pool = (n: number): Connection => pools[n % 2] ?? api;

describe("simultaneous claims through two pools", () => {
  test("100 of one wallet and client: one is accepted, with two transfers", async () => {
    const results = await runMany(100, (n) => tryClaim(1, {}, pool(n)));
    expect(countOutcomes(results)).toEqual({ claimed: 1, wallet_limited: 99 });
    expect(await countRows()).toMatchObject({ claims: 1, slots: 2, day: 1, serviceTransactions: 2 });
    const serviceTransactions = await connection.sql`
      select purpose, sender, "to", value::text, left(data, 10) as selector, state from service.service_transaction_progress order by purpose`;
    expect(serviceTransactions).toEqual([
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

  test("100 of different wallets and one client: one is accepted", async () => {
    const results = await runMany(100, (n) => tryClaim(n, { client: clientOf(1) }, pool(n)));
    expect(countOutcomes(results)).toEqual({ claimed: 1, client_limited: 99 });
    expect(await countRows()).toMatchObject({ claims: 1, slots: 2, day: 1, serviceTransactions: 2 });
  });

  test("100 of one wallet and different clients: one is accepted", async () => {
    const results = await runMany(100, (n) => tryClaim(1, { client: clientOf(n) }, pool(n)));
    expect(countOutcomes(results)).toEqual({ claimed: 1, wallet_limited: 99 });
    expect(await countRows()).toMatchObject({ claims: 1, slots: 2, day: 1, serviceTransactions: 2 });
  });

  test("100 of different wallets and clients: the daily cap of 50 is accepted", async () => {
    const results = await runMany(100, (n) => tryClaim(n, {}, pool(n)));
    expect(countOutcomes(results)).toEqual({ claimed: 50, day_full: 50 });
    expect(await countRows()).toMatchObject({ claims: 50, slots: 100, day: 50, serviceTransactions: 100 });
  });

  test("100 with ether for seven and a half grants: seven are accepted, and the others take no slot", async () => {
    const funds = { block: 1000n, balance: 7n * grant + grant / 2n, gas: 1000n };
    const results = await runMany(100, (n) => tryClaim(n, { funds }, pool(n)));
    expect(countOutcomes(results)).toEqual({ claimed: 7, out_of_eth: 93 });
    expect(await countRows()).toMatchObject({ claims: 7, slots: 14, day: 7, serviceTransactions: 14 });
  });

  test("200 of overlapping wallets and clients: no deadlock", async () => {
    const results = await runMany(200, (n) => tryClaim(n % 10, { client: clientOf((n * 7) % 10) }, pool(n)));
    const { claimed: passed = 0 } = countOutcomes(results);
    expect(passed).toBeGreaterThan(0);
    expect(await countRows()).toMatchObject({ claims: passed, slots: 2 * passed, day: passed });
  });
});

describe("a limit", () => {
  /** The result of a claim whose slots end `offset` from now, in one transaction that is rolled back. */
  async function atOffset(offset: string, n: number, client: string): Promise<Admission> {
    let result: Admission | undefined;
    const undo = new Error("undo");
    await connection.sql
      .begin(async (tx) => {
        await tx`update service.faucet_slot set until = date_trunc('milliseconds', now()) + ${offset}::interval`;
        result = await claimFaucet(tx, claimRequest(n, { client }));
        throw undo;
      })
      .catch((error: unknown) => {
        if (error !== undo) throw error;
      });
    if (!result) throw new Error("no result");
    return result;
  }

  test.each([
    ["of the wallet", 1, clientOf(2), "wallet_limited"],
    ["of the client", 2, clientOf(1), "client_limited"],
  ])("%s ends to the millisecond", async (_, n, client, outcome) => {
    await createClaim(1);
    expect(await atOffset("1 millisecond", n, client)).toMatchObject({ outcome, secondsLeft: 1 });
    const later = await atOffset("90 seconds", n, client);
    if (!("secondsLeft" in later)) throw new Error(later.outcome);
    expect(later.secondsLeft).toBeGreaterThan(80);
    expect(later.secondsLeft).toBeLessThanOrEqual(90);
    expect(await atOffset("0", n, client)).toMatchObject({ outcome: "claimed" });
  });

  test("of wallet and client ends 24 hours after the claim", async () => {
    await createClaim(1);
    const [row] = await connection.sql<{ ms: number }[]>`
      select extract(epoch from claimed_at)::float8 * 1000 as ms from service.faucet_claim`;
    const until = new Date((row?.ms ?? 0) + 24 * 3_600_000);
    for (const result of [
      await tryClaim(1),
      await tryClaim(1, { client: clientOf(2) }),
      await tryClaim(2, { client: clientOf(1) }),
    ]) {
      if (!("until" in result)) throw new Error(result.outcome);
      expect(result.until).toEqual(until);
      expect(result.secondsLeft).toBeGreaterThan(86_390);
      expect(result.secondsLeft).toBeLessThanOrEqual(86_400);
    }
  });

  test("of the day ends with the UTC day, and the next day starts at zero", async () => {
    await connection.sql`
      insert into service.faucet_day (chain_id, day, claims) values (${chainId}, (now() at time zone 'utc')::date, 50)`;
    const result = await tryClaim(1);
    if (result.outcome !== "day_full") throw new Error(result.outcome);
    const midnight = new Date();
    midnight.setUTCHours(24, 0, 0, 0);
    expect(result.until).toEqual(midnight);
    expect(Math.abs(result.secondsLeft - (midnight.getTime() - Date.now()) / 1000)).toBeLessThan(5);
    await connection.sql`update service.faucet_day set day = day - 1`;
    expect(await tryClaim(1)).toMatchObject({ outcome: "claimed" });
    expect(await connection.sql`select claims from service.faucet_day order by day`).toEqual([
      { claims: 50 },
      { claims: 1 },
    ]);
  });

  test("is reported for the wallet first, then the client, then the day", async () => {
    await createClaim(1);
    await createClaim(2);
    await connection.sql`update service.faucet_day set claims = 50`;
    expect((await tryClaim(1, { client: clientOf(2) })).outcome).toBe("wallet_limited");
    expect((await tryClaim(3, { client: clientOf(2) })).outcome).toBe("client_limited");
    expect((await tryClaim(3)).outcome).toBe("day_full");
  });

  test("is reported with the time at which the last limit ends", async () => {
    await createClaim(1);
    await createClaim(2);
    await connection.sql`
      update service.faucet_slot set until = now() + interval '1 hour' where subject = ${walletOf(1)}`;
    expect(await tryClaim(1, { client: clientOf(3) })).toMatchObject({ secondsLeft: 3600 });
    const both = await tryClaim(1, { client: clientOf(2) });
    expect(both).toMatchObject({ outcome: "wallet_limited" });
    expect("secondsLeft" in both && both.secondsLeft).toBeGreaterThan(86_300);
  });

  test("pauses a client after five claims within ten minutes for wallets that cannot be paid", async () => {
    const { sql } = connection;
    const refused = async (n: number, code: string) => {
      const id = await createClaim(n, { client: clientOf(1) });
      await sql`select service.free_claim(${id}, ${code}, 'refused')`;
      return id;
    };
    const first = await refused(1, "onchain_revert");
    await refused(2, "claim_expired");
    for (const n of [3, 4, 5]) await refused(n, "onchain_revert");
    await sql`update service.faucet_claim set freed_at = freed_at - interval '9 minutes' where id = ${first}`;
    await refused(6, "onchain_revert");
    const result = await tryClaim(7, { client: clientOf(1) });
    expect(result.outcome).toBe("client_paused");
    expect("secondsLeft" in result && result.secondsLeft).toBeGreaterThan(50);
    expect("secondsLeft" in result && result.secondsLeft).toBeLessThanOrEqual(60);
    expect((await tryClaim(7)).outcome).toBe("claimed");
    await sql`update service.faucet_claim set freed_at = freed_at - interval '61 seconds' where id = ${first}`;
    expect((await tryClaim(8, { client: clientOf(1) })).outcome).toBe("claimed");
  });

  test("of one chain does not apply to another chain", async () => {
    await createClaim(1);
    expect(await tryClaim(1, { chainId: 31337 })).toMatchObject({ outcome: "claimed" });
  });
});

describe("a claim whose result no caller has received", () => {
  test("is joined by the same wallet and client once its call stops waiting, by one call at a time", async () => {
    const first = await claimOrJoin(1);
    expect((await tryClaim(1)).outcome).toBe("wallet_limited");
    await stopAwaiting(api.sql, first);
    const results = await runMany(20, () => tryClaim(1));
    expect(countOutcomes(results)).toEqual({ joined: 1, wallet_limited: 19 });
    expect(results).toContainEqual(expect.objectContaining({ outcome: "joined", claimId: first.claimId }));
    expect(await countRows()).toMatchObject({ claims: 1, serviceTransactions: 2, day: 1 });
  });

  test("stays with the call that joined it when the earlier call stops waiting later", async () => {
    const first = await claimOrJoin(1, { waitMs: 1 });
    const second = await claimOrJoin(1);
    expect(second.claimId).toBe(first.claimId);
    await stopAwaiting(api.sql, first);
    expect((await tryClaim(1)).outcome).toBe("wallet_limited");
    await stopAwaiting(api.sql, second);
    expect((await tryClaim(1)).outcome).toBe("joined");
  });

  test("is joined after the waiting process died", async () => {
    const id = await createClaim(1, { waitMs: 1 });
    expect(await tryClaim(1)).toMatchObject({ outcome: "joined", claimId: id });
  });

  test("is not joined by another wallet or client, nor after its result was received", async () => {
    const id = await createClaim(1, { waitMs: 1 });
    expect((await tryClaim(1, { client: clientOf(2) })).outcome).toBe("wallet_limited");
    expect((await tryClaim(2, { client: clientOf(1) })).outcome).toBe("client_limited");
    await noteClaimReported(api.sql, id);
    expect((await tryClaim(1)).outcome).toBe("wallet_limited");
  });

  test("is joined while the faucet is stopped or empty", async () => {
    const id = await createClaim(1, { waitMs: 1 });
    await connection.sql`insert into service.stop (scope, subject, reason) values ('wallet', ${faucet}, 'test')`;
    expect(await tryClaim(1, { funds: undefined })).toMatchObject({ outcome: "joined", claimId: id });
    expect((await tryClaim(2)).outcome).toBe("stopped");
  });
});

describe("the faucet's ether", () => {
  const justOne = { block: 100n, balance: grant + 2000n, gas: 1000n };

  test("must be known for a new claim, but not to report a limit", async () => {
    expect((await tryClaim(1, { funds: undefined })).outcome).toBe("funds_unknown");
    await createClaim(1);
    expect((await tryClaim(1, { funds: undefined })).outcome).toBe("wallet_limited");
  });

  test("must cover the grant and the gas of both transfers", async () => {
    expect((await tryClaim(1, { funds: { ...justOne, balance: justOne.balance - 1n } })).outcome).toBe(
      "out_of_eth",
    );
    expect(await countRows()).toEqual({ claims: 0, freed: 0, slots: 0, day: 0, serviceTransactions: 0 });
    expect((await tryClaim(1, { funds: justOne })).outcome).toBe("claimed");
  });

  test("of a transfer that is not mined up to the balance's block counts as spent", async () => {
    const id = await createClaim(1, { funds: justOne });
    expect((await tryClaim(2, { funds: justOne })).outcome).toBe("out_of_eth");
    await signTransfers(id, "faucet_ether", "faucet_usdc");
    expect((await tryClaim(2, { funds: justOne })).outcome).toBe("out_of_eth");
    const mine = async (block: number) => {
      await mineTransfer(id, "faucet_ether", block);
      await mineTransfer(id, "faucet_usdc", block);
    };
    await mine(101);
    expect((await tryClaim(2, { funds: justOne })).outcome).toBe("out_of_eth");
    // The balance includes every transfer mined up to its block.
    await mine(100);
    expect((await tryClaim(2, { funds: justOne })).outcome).toBe("claimed");
  });
});

test("a stopped faucet accepts no new claim", async () => {
  await connection.sql`insert into service.stop (scope, subject, reason) values ('global', '', 'test')`;
  expect((await tryClaim(1, { funds: ampleFunds })).outcome).toBe("stopped");
  expect(await countRows()).toMatchObject({ claims: 0, slots: 0 });
});

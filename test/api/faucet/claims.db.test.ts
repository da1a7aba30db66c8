/** How a claim ends: paid, freed, or failed for good; and what its callers read. */
import { describe, expect, test } from "vitest";
import { createClaimWaiter } from "../../../api/faucet/claim-waiter.ts";
import { type Claim, noteClaimReported, readClaims } from "../../../api/faucet/claims.ts";
import { forgetOldClaimants } from "../../../api/faucet/counts.ts";
import { atEnd } from "../../support/cleanup.ts";
import {
  ageClaim,
  api,
  assignTransfers,
  chainId,
  clientOf,
  confirmBlock,
  connection,
  countRows,
  createClaim,
  databaseUrl,
  freeClaim,
  loseTransfer,
  mineTransfer,
  signTransfers,
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
    await ageClaim(id, "25 hours");
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
  /** Nobody may claim in its place: one of its transfers may still be mined. */
  async function expectNotFreed(id: string): Promise<void> {
    expect(await freeClaim(id)).toBe(false);
    expect(await countRows()).toMatchObject({ freed: 0, slots: 2, day: 1 });
    expect((await read(id)).state).toBe("open");
    expect((await tryClaim(1)).outcome).toBe("wallet_limited");
  }

  test.each(["faucet_ether", "faucet_usdc"] as const)("%s: is not freed", async (purpose) => {
    const id = await createClaim(1);
    await signTransfers(id, purpose);
    await expectNotFreed(id);
  });

  test("whose writer died after it took the nonce is not freed", async () => {
    const id = await createClaim(1);
    await assignTransfers(id, "faucet_ether", "faucet_usdc");
    await expectNotFreed(id);
  });

  test("is not freed when other transactions have the nonces of both, and each is signed once more", async () => {
    const id = await createClaim(1);
    await signTransfers(id, "faucet_ether", "faucet_usdc");
    await loseTransfer(id, "faucet_ether");
    await expectNotFreed(id);
    await loseTransfer(id, "faucet_usdc");
    await expectNotFreed(id);
    await connection.sql`update service.waiting set created_at = now() - interval '1 hour'`;
    await signTransfers(id, "faucet_ether", "faucet_usdc");
    await expect(signTransfers(id, "faucet_ether")).rejects.toThrow("nothing to sign");
    await expectNotFreed(id);
    await mineTransfer(id, "faucet_ether", 7);
    await mineTransfer(id, "faucet_usdc", 7);
    expect((await read(id)).state).toBe("paid");
  });

  test("signing and freeing at the same moment: exactly one succeeds", async () => {
    const ids = await Promise.all(Array.from({ length: 30 }, (_, n) => createClaim(n)));
    const exclusive = await Promise.all(
      ids.map(async (id, n) => {
        const [signed, freed] = await Promise.all([
          signTransfers(id, n % 2 === 0 ? "faucet_ether" : "faucet_usdc").then(
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
    await signTransfers(id, "faucet_ether", "faucet_usdc");
    await mineTransfer(id, "faucet_ether", 7);
    expect((await read(id)).state).toBe("open");
    await mineTransfer(id, "faucet_usdc", 8);
    expect(await read(id)).toMatchObject({ id, chainId, wallet: walletOf(1), state: "paid" });
    await confirmBlock(7);
    await confirmBlock(8);
    expect((await read(id)).state).toBe("paid");
  });

  test("with a reverted transfer is open until its block is final, and the slots stay taken", async () => {
    const id = await createClaim(1);
    await signTransfers(id, "faucet_ether", "faucet_usdc");
    await mineTransfer(id, "faucet_ether", 7, "reverted");
    await mineTransfer(id, "faucet_usdc", 7);
    expect((await read(id)).state).toBe("open");
    await confirmBlock(7);
    expect(await read(id)).toMatchObject({
      state: "failed",
      code: "onchain_revert",
      message: "it reverted",
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
    await signTransfers(paid, "faucet_ether", "faucet_usdc");
    await mineTransfer(paid, "faucet_usdc", 7);
    await mineTransfer(paid, "faucet_ether", 8);
    expect((await waiting).map(({ state }) => state)).toEqual(["paid", "paid", "failed", "open"]);
  });
});

test("the counts agree after concurrent claiming, signing, freeing and deleting", async () => {
  const { sql } = connection;
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
        if (ids.length > 0)
          await signTransfers(anyId(), "faucet_ether").catch((error) => {
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
    await sql`select 1 from service.transaction t join service.service_transaction_progress e on e.id = t.intent
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

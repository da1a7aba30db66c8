/** The ledger's limits on accepting a purchase: funds, delegations, stops, pauses; also under concurrent calls. */
import { randomUUID } from "node:crypto";
import type { Address, Hex } from "viem";
import { numberToHex } from "viem";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Acceptance, acceptPurchases, type QuotedIntent } from "../../api/buying/accept-purchases.ts";
import type { Funds } from "../../api/buying/refusal-reasons.ts";
import { asApi } from "../../lib/db/api-role.ts";
import { type Connection, connect } from "../../lib/db/connect.ts";
import { refusePurchase } from "../../workers/ledger/waiting.ts";
import { atEnd } from "../support/cleanup.ts";
import { freshDatabase } from "../support/database.ts";

const chainId = 8453;
const router: Address = "0x00000000000000000000000000000000000000cc";
const agent: Address = "0x00000000000000000000000000000000000000aa";
const buyer: Address = "0x00000000000000000000000000000000000000bb";
const word = (n: number): Hex => numberToHex(n, { size: 32 });

let connection: Connection;
/** With the rights of the api. */
let api: Connection;
let keyId: number;

beforeAll(async () => {
  const databaseUrl = await freshDatabase();
  connection = connect(databaseUrl, { name: "test" });
  api = connect(asApi(databaseUrl), { name: "test-api" });
  atEnd(() => connection.close());
  atEnd(() => api.close());
  const [key] = await connection.sql<{ id: string }[]>`
    insert into service.api_key (key_hash, wallet, tier) values ('x', ${agent}, 'paid') returning id`;
  keyId = Number(key?.id);
});
afterEach(async () => {
  await connection.sql`truncate service.purchase, service.permit, service.key_premium, service.waiting, service.transaction, service.attempt, service.buyer_revert, service.delegation, service.stop`;
});

const wish = (more: Partial<QuotedIntent> = {}, from: Address = agent): QuotedIntent => ({
  chainId,
  router,
  wallet: agent,
  keyId,
  idempotencyKey: randomUUID(),
  request: { productId: word(1), coverageAmount: 100_000_000n, asset: word(2), buyer: from },
  quotedPremium: 10n,
  funds: undefined,
  ...more,
});
async function accept(more: QuotedIntent, funds?: Funds): Promise<Acceptance> {
  const purchase = { ...more, funds };
  const acceptance = (await acceptPurchases(api, [purchase])).get(purchase);
  if (!acceptance) throw new Error("no answer");
  return acceptance;
}

/** Accepts a purchase with a premium of ten, and stores it as mined in this block. */
async function mined(block: number): Promise<void> {
  const acceptance = await accept(wish(), { block: 0n, balance: 1000n, allowance: 1000n });
  if (acceptance.outcome !== "created") throw new Error(acceptance.outcome);
  await mine(acceptance.purchase.id, block, { outcome: "done", policy_id: 1, premium_paid: 10 });
}

let nonce = 0;
/** Stores the outcome of a purchase's transaction in a block. */
async function mine(
  id: string,
  block: number,
  outcome: Record<string, string | number | Date>,
): Promise<void> {
  const { sql } = connection;
  nonce += 1;
  await sql`insert into service.relayer_wallet (chain_id, address) values (${chainId}, ${router}) on conflict do nothing`;
  await sql`delete from service.waiting where intent = ${id}`;
  await sql`
    insert into service.transaction (
      chain_id, wallet, nonce, kind, intent, payer, client, quoted_premium, delegation_id, "to", data, gas_limit)
    select chain_id, ${router}, ${nonce}, 'purchase', id, buyer, wallet, quoted_premium, delegation_id, ${router}, '0x', 21000
    from service.purchase where id = ${id}`;
  const settled = {
    hash: word(nonce),
    block_number: block,
    block_hash: word(block),
    gas_cost: 1,
    settled_at: new Date(),
  };
  await sql`update service.transaction set ${sql({ ...settled, ...outcome })} where intent = ${id}`;
}

describe("the buyer's funds", () => {
  test("are not needed for the only pending purchase of a buyer", async () => {
    expect(await accept(wish())).toMatchObject({ outcome: "created" });
    expect(await accept(wish())).toEqual({ outcome: "refused", by: { kind: "funds_unknown" } });
  });

  test("of fifty concurrent purchases, as many are accepted as the allowance covers", async () => {
    const funds = { block: 5n, balance: 1_000n, allowance: 75n };
    const results = await Promise.all(Array.from({ length: 50 }, () => accept(wish(), funds)));
    expect(results.filter(({ outcome }) => outcome === "created")).toHaveLength(7);
    expect(results.find(({ outcome }) => outcome === "refused")).toEqual({
      outcome: "refused",
      by: { kind: "short_of_funds", held: 70n, funds },
    });
  });

  test.each(["mined", "confirmed"])(
    "a %s purchase counts until the block of the funds shows it",
    async (state) => {
      await mined(6);
      if (state === "confirmed") await connection.sql`update service.transaction set final_at = now()`;
      // Funds are checked only while another purchase is pending.
      expect(await accept(wish({ quotedPremium: 0n }))).toMatchObject({ outcome: "created" });
      const short = await accept(wish(), { block: 5n, balance: 15n, allowance: 100n });
      expect(short).toMatchObject({ outcome: "refused", by: { kind: "short_of_funds", held: 10n } });
      const paid = await accept(wish(), { block: 6n, balance: 15n, allowance: 100n });
      expect(paid).toMatchObject({ outcome: "created" });
    },
  );
});

async function delegate(cap: bigint, expires = "1 hour"): Promise<void> {
  await connection.sql`
    insert into service.delegation (chain_id, router, buyer, agent, total_premium_cap, expires_at, nonce, digest)
    values (${chainId}, ${router}, ${buyer}, ${agent}, ${String(cap)}, now() + ${expires}::interval, 0,
      ${`0x${randomUUID().replaceAll("-", "").repeat(2)}`})`;
}
const plenty: Funds = { block: 0n, balance: 10_000n, allowance: 10_000n };
const foreign = () => wish({}, buyer);

describe("another wallet's money", () => {
  test("cannot be spent without a delegation", async () => {
    expect(await accept(foreign(), plenty)).toEqual({
      outcome: "refused",
      by: { kind: "not_delegated", left: undefined },
    });
  });

  test("of fifty concurrent purchases, as many are accepted as the cap allows", async () => {
    await delegate(45n);
    const results = await Promise.all(Array.from({ length: 50 }, () => accept(foreign(), plenty)));
    expect(results.filter(({ outcome }) => outcome === "created")).toHaveLength(4);
    expect(await accept(foreign(), plenty)).toEqual({
      outcome: "refused",
      by: { kind: "not_delegated", left: 5n },
    });
  });

  test("a failed purchase frees its share of the cap", async () => {
    await delegate(10n);
    expect(await accept(foreign(), plenty)).toMatchObject({ outcome: "created" });
    expect(await accept(foreign(), plenty)).toMatchObject({ outcome: "refused" });
    const [first] = await connection.sql<{ id: string }[]>`select id from service.purchase`;
    await refusePurchase(connection.sql, first?.id ?? "", { code: "onchain_revert", message: "x" });
    expect(await accept(foreign(), plenty)).toMatchObject({ outcome: "created" });
  });

  test("a delegation for another router does not count", async () => {
    await delegate(100n);
    const elsewhere = { ...foreign(), router: agent };
    expect(await accept(elsewhere, plenty)).toMatchObject({
      outcome: "refused",
      by: { kind: "not_delegated" },
    });
    expect(await accept(foreign(), plenty)).toMatchObject({ outcome: "created" });
  });

  test("an expired or revoked delegation does not count", async () => {
    await delegate(100n, "-1 second");
    expect(await accept(foreign(), plenty)).toMatchObject({ outcome: "refused" });
    await delegate(100n);
    await connection.sql`update service.delegation set revoked_at = now()`;
    expect(await accept(foreign(), plenty)).toMatchObject({ outcome: "refused" });
  });
});

test.each([
  ["global", ""],
  ["wallet", agent],
  ["key", undefined],
] as const)("a stop of scope %s refuses new purchases, and lets replays through", async (scope, subject) => {
  const earlier = wish();
  await accept(earlier);
  await connection.sql`
    insert into service.stop (scope, subject, reason) values (${scope}, ${subject ?? String(keyId)}, 'test')`;
  expect(await accept(wish(), plenty)).toEqual({ outcome: "refused", by: { kind: "stopped", scope } });
  expect(await accept(earlier)).toMatchObject({ outcome: "joined" });
});

test("a stop of another wallet or key does not refuse this one", async () => {
  await connection.sql`
    insert into service.stop (scope, subject, reason) values ('wallet', ${buyer}, 'test'), ('key', '999999', 'test')`;
  expect(await accept(wish())).toMatchObject({ outcome: "created" });
});

/** Stores purchases that reverted in a block these many minutes ago. */
async function reverted(failedBy: "buyer" | "protocol", minutesAgo: readonly number[]): Promise<void> {
  for (const minutes of minutesAgo) {
    const acceptance = await accept(wish(), plenty);
    if (acceptance.outcome !== "created") throw new Error(acceptance.outcome);
    const failure = { failure_code: "onchain_revert", failure_message: "x", failed_by: failedBy };
    await mine(acceptance.purchase.id, 1, { outcome: "reverted", ...failure });
    await connection.sql`
      update service.buyer_revert set reverted_at = now() - make_interval(mins => ${minutes})
      where transaction_id = (select max(id) from service.transaction)`;
  }
}

test.each([
  { what: "two reverts", minutesAgo: [1, 2], paused: undefined },
  { what: "three reverts within an hour", minutesAgo: [20, 30, 70], paused: 40 * 60 },
  { what: "three reverts in more than an hour", minutesAgo: [10, 30, 71], paused: undefined },
  { what: "three reverts, the last more than an hour ago", minutesAgo: [61, 70, 80], paused: undefined },
])("after $what a wallet is paused for: $paused seconds", async ({ minutesAgo, paused }) => {
  await reverted("buyer", minutesAgo);
  const next = await accept(wish(), plenty);
  if (paused === undefined) return expect(next).toMatchObject({ outcome: "created" });
  if (next.outcome !== "refused" || next.by.kind !== "paused") throw new Error(JSON.stringify(next.outcome));
  expect(next.by.secondsLeft).toBeLessThanOrEqual(paused);
  expect(next.by.secondsLeft).toBeGreaterThan(paused - 60);
});

test("a wallet is not paused for reverts that the protocol caused", async () => {
  await reverted("protocol", [1, 2, 3, 4]);
  expect(await accept(wish(), plenty)).toMatchObject({ outcome: "created" });
});

const relayerOf = (n: number): Address => numberToHex(n, { size: 20 });
/** Random whole numbers below a bound, the same for each seed. */
function chooserOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}
const outcomeOf = (acceptance: Acceptance | undefined): string =>
  acceptance?.outcome === "refused" ? acceptance.by.kind : (acceptance?.outcome ?? "nothing");

describe("purchases that are accepted in one batch", () => {
  test("each get their own outcome", async () => {
    const key = randomUUID();
    const unlimited = { funds: plenty };
    const wishes = [
      wish({ ...unlimited, idempotencyKey: key }),
      wish({ ...unlimited, idempotencyKey: key }),
      wish({ ...unlimited, idempotencyKey: key, quotedPremium: 3n }, buyer),
      wish(unlimited, buyer),
      wish({ ...unlimited, idempotencyKey: null }),
      wish({ ...unlimited, idempotencyKey: null }),
    ];
    const acceptances = await acceptPurchases(api, wishes);
    expect(wishes.map((one) => acceptances.get(one)?.outcome)).toEqual([
      "created",
      "joined",
      "conflict",
      "refused",
      "created",
      "joined",
    ]);
    const id = (one: QuotedIntent | undefined) => {
      const acceptance = one && acceptances.get(one);
      return acceptance && "purchase" in acceptance ? acceptance.purchase.id : undefined;
    };
    expect(id(wishes[1])).toBe(id(wishes[0]));
    expect(id(wishes[5])).toBe(id(wishes[4]));
  });

  test("with one idempotency key for the own wallet and for another buyer: the second is a conflict", async () => {
    await delegate(1_000_000n);
    const shared = { idempotencyKey: randomUUID(), funds: plenty };
    const wishes = [wish(shared), wish(shared, buyer)];
    const acceptances = await acceptPurchases(api, wishes);
    expect(wishes.map((one) => acceptances.get(one)?.outcome)).toEqual(["created", "conflict"]);
  });

  test.each(Array.from({ length: 20 }, (_, seed) => seed + 1))(
    "have the outcomes that they have one by one (seed %i)",
    async (seed) => {
      const choose = chooserOf(seed);
      await connection.sql`insert into service.stop values ('wallet', ${router}, 'test')`;
      await delegate(20n);
      await delegate(30n, "2 hours");
      const [limited] = await connection.sql<{ id: string }[]>`
        insert into service.api_key (key_hash, wallet, tier, max_premium_per_day)
        values (${`seed ${seed}`}, ${agent}, 'paid', 40) returning id`;
      const buyers = [agent, buyer, router, relayerOf(1), relayerOf(2)];
      const keyOf = new Map<Address, number>();
      for (const wallet of buyers) {
        const [own] = await connection.sql<{ id: string }[]>`
          insert into service.api_key (key_hash, wallet, tier) values (${`${seed} ${wallet}`}, ${wallet}, 'paid') returning id`;
        keyOf.set(wallet, Number(own?.id));
      }
      const keys = Array.from({ length: 6 }, () => randomUUID());
      const round = (): QuotedIntent[] =>
        Array.from({ length: 1 + choose(20) }, () => {
          const wallet = buyers[choose(buyers.length)] ?? agent;
          const allowance = BigInt(choose(90));
          const permit = { value: allowance + 1n, deadline: 1n, signature: "0x" } as const;
          return wish(
            {
              wallet,
              keyId: wallet === agent && choose(2) === 0 ? Number(limited?.id) : (keyOf.get(wallet) ?? null),
              ...(choose(8) === 0 && { permit }),
              idempotencyKey: choose(8) === 0 ? null : (keys[choose(keys.length)] ?? null),
              quotedPremium: BigInt(choose(20)),
              funds: choose(8) === 0 ? undefined : { block: BigInt(choose(2)), balance: 1000n, allowance },
            },
            wallet === agent && choose(2) === 0 ? buyer : wallet,
          );
        });
      const rounds = Array.from({ length: 4 }, round);
      const together: string[] = [];
      for (const wishes of rounds) {
        const acceptances = await acceptPurchases(api, wishes);
        together.push(...wishes.map((one) => outcomeOf(acceptances.get(one))));
      }
      await connection.sql`truncate service.purchase, service.permit, service.key_premium, service.waiting`;
      await connection.sql`update service.delegation set premium_spent = 0`;
      const alone: string[] = [];
      for (const wishes of rounds) {
        for (const one of wishes) alone.push(outcomeOf((await acceptPurchases(api, [one])).get(one)));
      }
      expect(together).toEqual(alone);
    },
  );

  test("do not fail because one of them cannot be stored", async () => {
    const wishes = [
      wish({ funds: plenty }),
      wish({ funds: plenty, idempotencyKey: "" }),
      wish({ funds: plenty }),
    ];
    const acceptances = await acceptPurchases(api, wishes);
    expect(wishes.map((one) => acceptances.get(one)?.outcome)).toEqual(["created", undefined, "created"]);
  });

  test("with the same keys and buyers in several processes do not deadlock", async () => {
    const keys = Array.from({ length: 10 }, () => randomUUID());
    await delegate(1_000_000n);
    const round = (shift: number) =>
      keys.map((idempotencyKey, n) =>
        wish({ idempotencyKey, funds: plenty }, (n + shift) % 2 ? buyer : agent),
      );
    const rounds = [round(0), round(1), round(0).toReversed(), round(1).toReversed()];
    const all = await Promise.all(rounds.map((wishes) => acceptPurchases(api, wishes)));
    const outcomes = all.flatMap((acceptances) => [...acceptances.values()].map(({ outcome }) => outcome));
    expect(outcomes).toHaveLength(40);
    expect(outcomes.filter((outcome) => outcome === "created")).toHaveLength(10);
  });
});

/** The limits of an API key on purchases: scope, products, premium per purchase and per day; also under concurrent calls. */
import { randomUUID } from "node:crypto";
import type { Address, Hex } from "viem";
import { numberToHex } from "viem";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Acceptance, acceptPurchases, type QuotedIntent } from "../../api/buying/accept-purchases.ts";
import type { KeyLimits } from "../../api/http/key-limits.ts";
import { issueKey, revokeKey } from "../../api/keys/store.ts";
import { asApi } from "../../lib/db/api-role.ts";
import { type Connection, connect } from "../../lib/db/connect.ts";
import { refusePurchase } from "../../workers/ledger/waiting.ts";
import { atEnd } from "../support/cleanup.ts";
import { freshDatabase } from "../support/database.ts";

const chainId = 8453;
const router: Address = "0x00000000000000000000000000000000000000cc";
const wallet: Address = "0x00000000000000000000000000000000000000aa";
const word = (n: number): Hex => numberToHex(n, { size: 32 });

let connection: Connection;
/** Two processes of the api, with its rights. */
let apis: readonly [Connection, Connection];

beforeAll(async () => {
  const databaseUrl = await freshDatabase();
  connection = connect(databaseUrl, { name: "test" });
  apis = [
    connect(asApi(databaseUrl), { name: "test-api-1" }),
    connect(asApi(databaseUrl), { name: "test-api-2" }),
  ];
  for (const opened of [connection, ...apis]) atEnd(() => opened.close());
});
afterEach(async () => {
  await connection.sql`truncate service.purchase, service.permit, service.waiting, service.transaction, service.attempt,
    service.delegation, service.api_key cascade`;
});

const noLimits: KeyLimits = {
  scopes: null,
  products: null,
  maxPremiumPerPurchase: null,
  maxPremiumPerDay: null,
};

/** Issues a key with the api's rights. @returns its id */
const keyWith = async (limits: Partial<KeyLimits>): Promise<number> => {
  const key = { wallet, label: null, tier: "free", limits: { ...noLimits, ...limits } } as const;
  return (await apis[0].sql.begin((tx) => issueKey(tx, key))).keyId;
};

/** A purchase of ten (6 decimals) by the key's wallet for itself. */
const purchase = (keyId: number, more: Partial<QuotedIntent> = {}): QuotedIntent => ({
  chainId,
  router,
  wallet,
  keyId,
  idempotencyKey: randomUUID(),
  request: { productId: word(1), coverageAmount: 100_000_000n, asset: word(2), buyer: wallet },
  quotedPremium: 10n,
  funds: { block: 0n, balance: 1_000_000n, allowance: 1_000_000n },
  ...more,
});

async function accept(intent: QuotedIntent, api: Connection = apis[0]): Promise<Acceptance> {
  const acceptance = (await acceptPurchases(api, [intent])).get(intent);
  if (!acceptance) throw new Error("no answer");
  return acceptance;
}

async function acceptedId(intent: QuotedIntent): Promise<string> {
  const acceptance = await accept(intent);
  if (acceptance.outcome !== "created") throw new Error(acceptance.outcome);
  return acceptance.purchase.id;
}

const outcomeOf = (acceptance: Acceptance | undefined): string =>
  acceptance?.outcome === "refused" ? acceptance.by.kind : (acceptance?.outcome ?? "nothing");
const countOf = (acceptances: readonly (Acceptance | undefined)[], outcome: string): number =>
  acceptances.filter((acceptance) => outcomeOf(acceptance) === outcome).length;

const limited = (by: object) => ({ outcome: "refused", by: { kind: "limited", ...by } });

/** A wallet that has delegated plenty to the key's wallet. */
async function delegatingBuyer(n: number): Promise<Address> {
  const buyer = numberToHex(0x1000 + n, { size: 20 });
  await connection.sql`
    insert into service.delegation (chain_id, router, buyer, agent, total_premium_cap, expires_at, nonce, digest)
    values (${chainId}, ${router}, ${buyer}, ${wallet}, 1000000, now() + interval '1 hour', ${n}, ${word(1000 + n)})`;
  return buyer;
}

/** Gives a purchase a transaction with this outcome, final or not. */
async function settle(
  id: string,
  outcome: "reverted" | "done",
  { final }: { final: boolean },
): Promise<void> {
  const { sql } = connection;
  await sql`insert into service.relayer_wallet (chain_id, address) values (${chainId}, ${router}) on conflict do nothing`;
  await sql`delete from service.waiting where intent = ${id}`;
  await sql`
    insert into service.transaction (chain_id, wallet, nonce, kind, intent, payer, client, quoted_premium, "to", data, gas_limit)
    select chain_id, ${router}, 0, 'purchase', id, buyer, wallet, quoted_premium, ${router}, '0x', 21000
    from service.purchase where id = ${id}`;
  const result =
    outcome === "done"
      ? { policy_id: 1, premium_paid: 10 }
      : { failure_code: "onchain_revert", failure_message: "x", failed_by: "protocol" };
  const block = { hash: word(1), block_number: 1, block_hash: word(1), gas_cost: 1, settled_at: new Date() };
  await sql`update service.transaction set ${sql({ ...block, outcome, ...result })} where intent = ${id}`;
  if (final) await sql`update service.transaction set final_at = now() where intent = ${id}`;
}

describe("a key", () => {
  // Its request may have begun before, and its body come only now.
  test.each<[string, Partial<KeyLimits>]>([
    ["without limits", {}],
    ["with a daily limit", { maxPremiumPerDay: 100n }],
  ])(
    "that was revoked %s buys nothing, and another key of the wallet in the same round does",
    async (_, limits) => {
      const [revoked, other] = [await keyWith(limits), await keyWith({})];
      await revokeKey(apis[0].sql, revoked, wallet);
      const intents = [purchase(revoked), purchase(other), purchase(revoked, { idempotencyKey: null })];
      const answers = await acceptPurchases(apis[0], intents);
      expect(intents.map((intent) => outcomeOf(answers.get(intent)))).toEqual([
        "revoked",
        "created",
        "revoked",
      ]);
    },
  );

  test.each<[string, Partial<KeyLimits>, object]>([
    ["without the scope `buy` buys nothing", { scopes: ["read", "webhooks"] }, { by: "scope" }],
    ["buys no product that is not in its list", { products: [word(7)] }, { by: "product" }],
    [
      "buys nothing above its premium per purchase",
      { maxPremiumPerPurchase: 9n },
      { by: "purchase", most: 9n },
    ],
    ["buys nothing above its premium per day", { maxPremiumPerDay: 9n }, { by: "day", most: 9n }],
  ])("%s", async (_, limits, by) => {
    expect(await accept(purchase(await keyWith(limits)))).toEqual(limited(by));
    expect(await connection.sql`select 1 from service.purchase`).toHaveLength(0);
  });

  test("buys up to its limits", async () => {
    const keyId = await keyWith({
      scopes: ["buy"],
      products: [word(7), word(1)],
      maxPremiumPerPurchase: 10n,
      maxPremiumPerDay: 10n,
    });
    expect(await accept(purchase(keyId))).toMatchObject({ outcome: "created" });
    expect(await accept(purchase(keyId, { quotedPremium: 1n }))).toEqual(limited({ by: "day", most: 0n }));
  });

  test("with its limit reached still gets the purchase that it repeats", async () => {
    const first = purchase(await keyWith({ maxPremiumPerDay: 10n }));
    expect(await accept(first)).toMatchObject({ outcome: "created" });
    expect(await accept(first)).toMatchObject({ outcome: "joined" });
  });

  test("shares its limits with no other key of the wallet", async () => {
    const [one, other, free] = [
      await keyWith({ maxPremiumPerDay: 10n }),
      await keyWith({ maxPremiumPerDay: 10n }),
      await keyWith({}),
    ];
    for (const keyId of [one, other, free, free]) {
      expect(await accept(purchase(keyId))).toMatchObject({ outcome: "created" });
    }
    expect(await accept(purchase(one))).toEqual(limited({ by: "day", most: 0n }));
  });
});

describe("of simultaneous purchases a key with a premium per day makes as many as the day allows", () => {
  const LIMIT = 45n;
  /** Fifty purchases, for the given buyers in turn. */
  const fifty = (keyId: number, buyers: readonly Address[]) =>
    Array.from({ length: 50 }, (_, n) => {
      const intent = purchase(keyId);
      return { ...intent, request: { ...intent.request, buyer: buyers[n % buyers.length] ?? wallet } };
    });

  test("for one buyer", async () => {
    const keyId = await keyWith({ maxPremiumPerDay: LIMIT });
    const results = await Promise.all(
      fifty(keyId, [wallet]).map((one, n) => accept(one, apis[n % 2 ? 1 : 0])),
    );
    expect([countOf(results, "created"), countOf(results, "limited")]).toEqual([4, 46]);
    expect(results.find(({ outcome }) => outcome === "refused")).toEqual(limited({ by: "day", most: 5n }));
  });

  test("for several buyers, whose locks are not the same, through several processes", async () => {
    const keyId = await keyWith({ maxPremiumPerDay: LIMIT });
    const buyers = [wallet, ...(await Promise.all([1, 2, 3, 4].map(delegatingBuyer)))];
    const results = await Promise.all(fifty(keyId, buyers).map((one, n) => accept(one, apis[n % 2 ? 1 : 0])));
    expect([countOf(results, "created"), countOf(results, "limited")]).toEqual([4, 46]);
  });

  test("in one batch, beside those of another key", async () => {
    const [keyId, free] = [await keyWith({ maxPremiumPerDay: LIMIT }), await keyWith({})];
    const buyers = [wallet, await delegatingBuyer(1)];
    const [capped, others] = [fifty(keyId, buyers), fifty(free, buyers)];
    const acceptances = await acceptPurchases(apis[0], [...capped, ...others]);
    expect(
      countOf(
        capped.map((one) => acceptances.get(one)),
        "created",
      ),
    ).toBe(4);
    expect(
      countOf(
        others.map((one) => acceptances.get(one)),
        "created",
      ),
    ).toBe(50);
  });

  test("in batches of several keys and processes, which do not deadlock", async () => {
    const keys = [await keyWith({ maxPremiumPerDay: LIMIT }), await keyWith({ maxPremiumPerDay: LIMIT })];
    const buyers = [wallet, ...(await Promise.all([1, 2].map(delegatingBuyer)))];
    const batches = Array.from({ length: 8 }, (_, n) => {
      const batch = keys.flatMap((keyId) => fifty(keyId, buyers).slice(0, 6));
      return n % 2 ? batch.toReversed() : batch;
    });
    const all = await Promise.all(batches.map((batch, n) => acceptPurchases(apis[n % 2 ? 1 : 0], batch)));
    for (const keyId of keys) {
      const own = all.flatMap((acceptances) =>
        [...acceptances].flatMap(([intent, acceptance]) => (intent.keyId === keyId ? [acceptance] : [])),
      );
      expect([countOf(own, "created"), countOf(own, "limited")]).toEqual([4, 44]);
    }
  });
});

describe("a key's premium per day", () => {
  test("is new on the next UTC day", async () => {
    const keyId = await keyWith({ maxPremiumPerDay: 10n });
    await acceptedId(purchase(keyId));
    expect(await accept(purchase(keyId))).toEqual(limited({ by: "day", most: 0n }));
    await connection.sql`update service.key_premium set day = day - 1`;
    expect(await accept(purchase(keyId))).toMatchObject({ outcome: "created" });
    expect(await accept(purchase(keyId))).toEqual(limited({ by: "day", most: 0n }));
  });

  test("is free again of a purchase that was refused before it was signed", async () => {
    const keyId = await keyWith({ maxPremiumPerDay: 10n });
    const id = await acceptedId(purchase(keyId));
    await refusePurchase(connection.sql, id, { code: "onchain_revert", message: "x" });
    expect(await accept(purchase(keyId))).toMatchObject({ outcome: "created" });
  });

  test("is free again of a purchase that reverted once that is final, until a reorganisation opens it again", async () => {
    const keyId = await keyWith({ maxPremiumPerDay: 10n });
    const id = await acceptedId(purchase(keyId));
    await settle(id, "reverted", { final: false });
    expect(await accept(purchase(keyId))).toEqual(limited({ by: "day", most: 0n }));
    await connection.sql`update service.transaction set final_at = now() where intent = ${id}`;
    expect(await accept(purchase(keyId, { quotedPremium: 4n }))).toMatchObject({ outcome: "created" });
    await connection.sql`
      update service.transaction set hash = null, block_number = null, block_hash = null, outcome = null, gas_cost = null,
        settled_at = null, failure_code = null, failure_message = null, failed_by = null, final_at = null
      where intent = ${id}`;
    expect(await accept(purchase(keyId, { quotedPremium: 1n }))).toEqual(limited({ by: "day", most: -4n }));
  });

  test("keeps counting a purchase that was mined and is final", async () => {
    const keyId = await keyWith({ maxPremiumPerDay: 10n });
    await settle(await acceptedId(purchase(keyId)), "done", { final: true });
    expect(await accept(purchase(keyId))).toEqual(limited({ by: "day", most: 0n }));
  });
});

/** Purchases with the queues and limits in Redis, and after Redis is lost. */
import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { anvilAccount } from "../../lib/chain/client.ts";
import { catalogue } from "../../lib/products.ts";
import { policiesOnChain } from "../support/ledger.ts";
import { describeWithRedis, freshRedis } from "../support/redis.ts";
import { startApi, type TestApi } from "./support/api.ts";
import { type Buyer, createBuyer, receiptOf } from "./support/buyer.ts";

const newKey = () => ({ "idempotency-key": randomUUID() });

describeWithRedis("with the queues in Redis", () => {
  let redis: Awaited<ReturnType<typeof freshRedis>>;
  let api: TestApi;
  let buyer: Buyer;
  beforeAll(async () => {
    redis = await freshRedis();
    const env = { REDIS_URL: redis.url };
    api = await startApi({ services: ["api", "writer"], env: { api: env, writer: env } });
    buyer = await createBuyer(api, anvilAccount(2));
  });

  test("each product can be bought, and the same Idempotency-Key and body return the same receipt", async () => {
    for (const { name, productId } of catalogue) {
      const key = newKey();
      const bought = await buyer.buy({ productName: name }, key);
      expect([bought.status, receiptOf(bought).productId], bought.text).toEqual([201, productId]);
      const replay = await buyer.buy({ productName: name }, key);
      expect([replay.status, replay.json]).toEqual([200, bought.json]);
    }
  });

  // The last one: Redis does not come back.
  test("after Redis is lost, a repeated call returns the same receipt, and new purchases succeed", async () => {
    const key = newKey();
    const first = await buyer.buy({}, key);
    expect(first.status, first.text).toBe(201);
    await redis.stop();
    const replay = await buyer.buy({}, key);
    expect([replay.status, replay.json]).toEqual([200, first.json]);
    expect((await buyer.buy({}, newKey())).status).toBe(201);
    expect(await policiesOnChain(api.chain, buyer.account.address)).toHaveLength(catalogue.length + 2);
  });
});

import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { anvilAccount } from "../../lib/chain/client.ts";
import { catalogue } from "../../lib/products.ts";
import { describeWithRedis } from "../support/redis.ts";
import { startApi, type TestApi } from "./support/api.ts";
import { type Buyer, createBuyer, receiptOf } from "./support/buyer.ts";

describeWithRedis("with the queues in Redis", () => {
  let api: TestApi;
  let buyer: Buyer;
  beforeAll(async () => {
    api = await startApi({ services: ["api", "writer"], redis: true });
    buyer = await createBuyer(api, anvilAccount(2));
  });

  test("each product can be bought, and the same Idempotency-Key and body return the same receipt", async () => {
    for (const { name, productId } of catalogue) {
      const key = { "idempotency-key": randomUUID() };
      const bought = await buyer.buy({ productName: name }, key);
      expect([bought.status, receiptOf(bought).productId], bought.text).toEqual([201, productId]);
      const replay = await buyer.buy({ productName: name }, key);
      expect([replay.status, replay.json]).toEqual([200, bought.json]);
    }
  });
});

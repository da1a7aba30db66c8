/**
 * An operator whose wallets are not on the router's allowlist. What this proves: with PURCHASES=prepared a service without relayers
 * is healthy, refuses relayed purchases with the way out, and prepares the purchase that the buyer sends, which its reads show.
 */
import { beforeAll, expect, test } from "vitest";
import { writerConfig } from "../../lib/config.ts";
import { termsOf } from "../../scripts/local/protocol/terms.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { usdc } from "../support/ledger.ts";
import * as act from "../support/protocol-actions.ts";
import { failure, issueKey, messageOf, startApi, type TestApi } from "./support/api.ts";
import { newcomer, prepare, preparePaths, sendAll, statusesOf } from "./support/prepare.ts";

const btc24 = termsOf("FLASHBTC24-001");
const order = { productName: btc24.name, coverageAmount: String(usdc(1_000)) };

let api: TestApi;
beforeAll(async () => {
  const env = { PURCHASES: "prepared" };
  api = await startApi({
    services: ["api", "indexer", "writer"],
    relayerKeys: [],
    keeper: true,
    env: { api: env, writer: env },
  });
});

test("the service is healthy without a relayer, and says that buyers send their purchases", async () => {
  const health = await waitFor({
    what: "the service to be healthy",
    probe: async () => {
      const { json } = await api.request("/health");
      return JSON.stringify(json).includes('"status":"ok"') ? json : undefined;
    },
  });
  expect(health).toMatchObject({ purchases: "prepared", relayer: null, relayers: [], reasons: [] });
  expect(health).toMatchObject({ keeper: { balanceWei: expect.any(String) } });
});

test("a relayed purchase, and a permit for one, are refused with the way out", async () => {
  const buyer = await newcomer(api.chain, api.protocol, usdc(100));
  const { headers } = await issueKey(api.request, buyer.address);
  const body = { ...order, buyer: buyer.address };
  const bought = await api.request("/api/v1/policies", { headers, body });
  expect(failure(bought)).toEqual([503, "relayer_unauthorized"]);
  expect(messageOf(bought)).toContain("/api/v1/policies/prepare");
  const relayed = { ...order, from: buyer.address, relayed: true };
  const permit = await api.request(preparePaths.purchase, { body: relayed });
  expect(failure(permit)).toEqual([503, "relayer_unauthorized"]);
});

test("the prepared purchase, sent by the buyer, is a policy of the reads", async () => {
  const buyer = await newcomer(api.chain, api.protocol, usdc(100));
  const prepared = await prepare(api, "purchase", { ...order, from: buyer.address });
  expect(statusesOf(prepared)).toEqual(["approve incomplete", "purchase incomplete"]);
  const { policyId } = act.purchased(await sendAll(api.protocol, buyer, prepared));
  const { json } = await api.request(`/policies/${btc24.productId}/${policyId}`);
  expect(json).toMatchObject({
    status: "Active",
    buyer: buyer.address,
    coverageAmount: order.coverageAmount,
  });
});

test("the writer needs no relayer key then, and refuses one", () => {
  const required = { DATABASE_URL: "postgres://a@b/c", RPC_URL: "http://a", DEPLOYMENT_FILE: "d.json" };
  const relayer = { RELAYER_PRIVATE_KEYS: `0x${"1".repeat(64)}` };
  expect(writerConfig({ ...required, PURCHASES: "prepared" }).PURCHASES).toBe("prepared");
  expect(() => writerConfig({ ...required, ...relayer, PURCHASES: "prepared" })).toThrow(
    "RELAYER_PRIVATE_KEYS must not be set with PURCHASES=prepared",
  );
  expect(() => writerConfig(required)).toThrow("RELAYER_PRIVATE_KEYS is required");
});

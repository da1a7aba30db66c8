/** Purchases that succeed, and purchases that are refused because of their request, their caller or their product. */
import { expect } from "vitest";
import { productIdOf } from "../../../lib/products.ts";
import { setProductActive, setRelayer } from "../../../scripts/local/protocol/actions/index.ts";
import { retiredTerms } from "../../../scripts/local/protocol/terms.ts";
import { changePremium } from "../../support/protocol-actions.ts";
import { admin, issueKey } from "./api.ts";
import { createKeyHolder } from "./buyer.ts";
import { beforeSimulation, bodyOf, newKey, POLICIES, type PurchaseCase } from "./purchase-case.ts";
import { delegate } from "./purchase-setup.ts";

export const bought: PurchaseCase[] = [
  { name: "a purchase", status: 201, policies: 1, send: (_setup, buyer) => buyer.buy() },
  {
    name: "the same request with the same Idempotency-Key",
    status: 200,
    policies: 1,
    async send(_setup, buyer) {
      const key = newKey();
      await buyer.buy({}, key);
      return buyer.buy({}, key);
    },
  },
  {
    name: "Prefer: respond-async",
    status: 202,
    send: (_setup, buyer) => buyer.buy({}, { ...newKey(), prefer: "respond-async" }),
  },
  {
    name: "another wallet as buyer, with its delegation",
    status: 201,
    policies: 1,
    async send(setup, buyer) {
      const agent = await setup.freshBuyer({ approve: false });
      await delegate(setup, buyer, agent);
      return agent.buy({ buyer: buyer.account.address });
    },
  },
];

export const refused: PurchaseCase[] = [
  ...[
    ["an invalid field", { coverageAmount: "1e8" }],
    ["a product name and an id of different products", { productId: productIdOf("FLASHETH1H-001") }],
  ].map(
    ([name, body]): PurchaseCase => ({
      name: String(name),
      status: 400,
      code: "validation_error",
      send: (_setup, buyer) => buyer.buy(body as Record<string, unknown>),
    }),
  ),
  {
    name: "a body that is not JSON",
    status: 400,
    code: "validation_error",
    send: (setup, { headers }) => setup.request(POLICIES, { headers, rawBody: "{" }),
  },
  {
    name: "an Idempotency-Key of 129 characters",
    status: 400,
    code: "validation_error",
    send: (_setup, buyer) => buyer.buy({}, { "idempotency-key": "x".repeat(129) }),
  },
  {
    name: "an unknown product name",
    status: 400,
    code: "unknown_product",
    send: (_setup, buyer) => buyer.buy({ productName: "FLASHBTC4H-001" }),
  },
  ...[
    ["no key", {}],
    ["a malformed key", { "x-api-key": "lk_1" }],
    ["an unknown key", { "x-api-key": `lk_${"0".repeat(64)}` }],
  ].map(
    ([name, headers]): PurchaseCase => ({
      name: String(name),
      status: 401,
      code: "unauthenticated",
      send: (setup, buyer) =>
        setup.request(POLICIES, { headers: headers as Record<string, string>, body: bodyOf(buyer) }),
    }),
  ),
  {
    name: "a revoked key",
    status: 401,
    code: "unauthenticated",
    async send(setup, buyer) {
      const { keyId, headers } = await issueKey(setup.request, buyer.account.address);
      await setup.request(`/api/v1/keys/${keyId}`, { method: "DELETE", headers: admin });
      return setup.request(POLICIES, { headers, body: bodyOf(buyer) });
    },
  },
  {
    name: "another wallet as buyer, without a delegation",
    status: 403,
    code: "buyer_not_authorized",
    send: (setup, buyer) => buyer.buy({ buyer: setup.chain.owner.address }),
  },
  {
    name: "a premium above the delegation's cap",
    status: 403,
    code: "buyer_not_authorized",
    async send(setup, buyer) {
      const agent = await setup.freshBuyer({ approve: false });
      await delegate(setup, buyer, agent, { cap: 291_999n });
      return agent.buy({ buyer: buyer.account.address });
    },
  },
  {
    name: "an expired delegation",
    status: 403,
    code: "buyer_not_authorized",
    async send(setup, buyer) {
      const agent = await setup.freshBuyer({ approve: false });
      const id = await delegate(setup, buyer, agent);
      // Moves the expiry into the past.
      await setup.connection
        .sql`update service.delegation set expires_at = now() - interval '1 s' where id = ${id}`;
      return agent.buy({ buyer: buyer.account.address });
    },
  },
  {
    name: "a revoked delegation",
    status: 403,
    code: "buyer_not_authorized",
    async send(setup, buyer) {
      const agent = await setup.freshBuyer({ approve: false });
      const id = await delegate(setup, buyer, agent);
      const { headers } = buyer;
      await setup.request(`/api/v1/agent/delegations/${id}`, { method: "DELETE", headers });
      return agent.buy({ buyer: buyer.account.address });
    },
  },
  {
    name: "a relayer removed from the allowlist before the simulation",
    status: 403,
    code: "not_authorized_relayer",
    async send(setup, buyer) {
      beforeSimulation(setup, ({ protocol, chain }) =>
        setRelayer(protocol, chain.owner, chain.relayer.address, false),
      );
      return buyer.buy();
    },
    restore: (setup) => setRelayer(setup.protocol, setup.chain.owner, setup.chain.relayer.address, true),
  },
  {
    name: "an unknown product id",
    status: 404,
    code: "invalid_product",
    send: (_setup, buyer) => buyer.buy({ productName: undefined, productId: productIdOf("nothing") }),
  },
  {
    name: "an Idempotency-Key already used with another body",
    status: 409,
    code: "idempotency_conflict",
    policies: 1,
    async send(_setup, buyer) {
      const key = newKey();
      await buyer.buy({}, key);
      return buyer.buy({ coverageAmount: "100000001" }, key);
    },
  },
  {
    name: "a body larger than 64 KiB",
    status: 413,
    code: "payload_too_large",
    send: (_setup, buyer) => buyer.buy({ more: "x".repeat(2 ** 16) }),
  },
  {
    name: "a content type other than JSON",
    status: 415,
    code: "unsupported_media_type",
    send: (setup, { headers }) =>
      setup.request(POLICIES, { headers: { ...headers, "content-type": "text/plain" }, rawBody: "{}" }),
  },
  {
    name: "an inactive product",
    status: 422,
    code: "product_inactive",
    async send({ protocol, chain, waitForCacheExpiry }, buyer) {
      await setProductActive(protocol, chain.owner, productIdOf("FLASHETH48-001"), false);
      await waitForCacheExpiry();
      return buyer.buy({ productName: "FLASHETH48-001" });
    },
    restore: ({ protocol, chain }) =>
      setProductActive(protocol, chain.owner, productIdOf("FLASHETH48-001"), true),
  },
  {
    name: "a retired product",
    status: 422,
    code: "shield_paused",
    send: (_setup, buyer) => buyer.buy({ productName: undefined, productId: retiredTerms.productId }),
  },
  {
    name: "a coverage below the minimum",
    status: 422,
    code: "coverage_below_minimum",
    send: (_setup, buyer) => buyer.buy({ coverageAmount: "99999999" }),
  },
  {
    name: "a coverage above the vault's capacity",
    status: 422,
    code: "coverage_above_maximum",
    send: (_setup, buyer) => buyer.buy({ coverageAmount: String(2n ** 100n) }),
  },
  {
    name: "a premium that rises before the signature, above a delegation's cap",
    status: 422,
    code: "price_mismatch",
    async send(setup, buyer) {
      const agent = await setup.freshBuyer({ approve: false });
      await delegate(setup, buyer, agent, { cap: 292_000n });
      beforeSimulation(setup, ({ protocol, chain }) =>
        changePremium(protocol, chain.owner, "FLASHBTC1H-001", 1),
      );
      return agent.buy({ buyer: buyer.account.address });
    },
    restore: ({ protocol, chain }) => changePremium(protocol, chain.owner, "FLASHBTC1H-001", -1),
  },
  {
    name: "a key's third request in a minute, where the limit is two",
    status: 429,
    code: "rate_limit",
    async send(setup, { account }) {
      const { headers } = await createKeyHolder(setup.strict, account);
      const request = { headers, body: {} };
      for (let n = 0; n < 2; n += 1) expect((await setup.strict.request(POLICIES, request)).status).toBe(400);
      const answer = await setup.strict.request(POLICIES, request);
      expect(answer.headers.get("x-ratelimit-limit")).toBe("2");
      expect(answer.headers.get("x-ratelimit-remaining")).toBe("0");
      return answer;
    },
  },
];

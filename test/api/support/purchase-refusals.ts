/** Purchases that are bought, and those that are refused for what they are and who asks for them. */
import { expect } from "vitest";
import { productIdOf } from "../../../lib/products.ts";
import { setProductPaused, setRelayer } from "../../../scripts/local/protocol/actions/index.ts";
import { legacyTerms, withdrawnTerms } from "../../../scripts/local/protocol/terms.ts";
import { isSimulation } from "../../support/ledger.ts";
import { admin, issueKey } from "./api.ts";
import { keyHolder } from "./buyer.ts";
import { bodyOf, newKey, PATH, type Row, withChain } from "./purchase-row.ts";
import { delegate } from "./purchase-world.ts";

export const bought: Row[] = [
  { what: "bought", status: 201, policies: 1, reach: (_world, buyer) => buyer.buy() },
  {
    what: "a replay",
    status: 200,
    policies: 1,
    async reach(_world, buyer) {
      const key = newKey();
      await buyer.buy({}, key);
      return buyer.buy({}, key);
    },
  },
  {
    what: "asked for without waiting",
    status: 202,
    reach: (_world, buyer) => buyer.buy({}, { ...newKey(), prefer: "respond-async" }),
  },
  {
    what: "another wallet's money, by its leave",
    status: 201,
    policies: 1,
    async reach(world, buyer) {
      const agent = await world.freshBuyer({ approve: false });
      await delegate(world, buyer, agent);
      return agent.buy({ buyer: buyer.account.address });
    },
  },
];

export const refused: Row[] = [
  ...[
    ["a field that is wrong", { coverageAmount: "1e8" }],
    ["name and id that disagree", { productId: productIdOf("FLASHETH1H-001") }],
  ].map(
    ([what, body]): Row => ({
      what: String(what),
      status: 400,
      code: "validation_error",
      reach: (_world, buyer) => buyer.buy(body as Record<string, unknown>),
    }),
  ),
  {
    what: "a body that is no JSON",
    status: 400,
    code: "validation_error",
    reach: (world, { headers }) => world.request(PATH, { headers, rawBody: "{" }),
  },
  {
    what: "an Idempotency-Key of 129 characters",
    status: 400,
    code: "validation_error",
    reach: (_world, buyer) => buyer.buy({}, { "idempotency-key": "x".repeat(129) }),
  },
  {
    what: "a name that is no product's",
    status: 400,
    code: "unknown_product",
    reach: (_world, buyer) => buyer.buy({ productName: "FLASHBTC4H-001" }),
  },
  ...[
    ["no key", {}],
    ["a malformed key", { "x-api-key": "lk_1" }],
    ["an unknown key", { "x-api-key": `lk_${"0".repeat(64)}` }],
  ].map(
    ([what, headers]): Row => ({
      what: String(what),
      status: 401,
      code: "unauthenticated",
      reach: (world, buyer) =>
        world.request(PATH, { headers: headers as Record<string, string>, body: bodyOf(buyer) }),
    }),
  ),
  {
    what: "a revoked key",
    status: 401,
    code: "unauthenticated",
    async reach(world, buyer) {
      const { keyId, headers } = await issueKey(world.request, buyer.account.address);
      await world.request(`/api/v1/keys/${keyId}`, { method: "DELETE", headers: admin });
      return world.request(PATH, { headers, body: bodyOf(buyer) });
    },
  },
  {
    what: "another wallet's money",
    status: 403,
    code: "buyer_not_authorized",
    reach: (world, buyer) => buyer.buy({ buyer: world.chain.owner.address }),
  },
  {
    what: "more of another wallet's money than it gave leave for",
    status: 403,
    code: "buyer_not_authorized",
    async reach(world, buyer) {
      const agent = await world.freshBuyer({ approve: false });
      await delegate(world, buyer, agent, { cap: 291_999n });
      return agent.buy({ buyer: buyer.account.address });
    },
  },
  {
    what: "a leave that has expired",
    status: 403,
    code: "buyer_not_authorized",
    async reach(world, buyer) {
      const agent = await world.freshBuyer({ approve: false });
      const id = await delegate(world, buyer, agent);
      // As if its hour were over.
      await world.connection
        .sql`update service.delegation set expires_at = now() - interval '1 s' where id = ${id}`;
      return agent.buy({ buyer: buyer.account.address });
    },
  },
  {
    what: "a leave that was revoked",
    status: 403,
    code: "buyer_not_authorized",
    async reach(world, buyer) {
      const agent = await world.freshBuyer({ approve: false });
      const id = await delegate(world, buyer, agent);
      const { headers } = buyer;
      await world.request(`/api/v1/agent/delegations/${id}`, { method: "DELETE", headers });
      return agent.buy({ buyer: buyer.account.address });
    },
  },
  {
    what: "a relayer that is taken off the allowlist before the simulation",
    status: 403,
    code: "not_authorized_relayer",
    async reach(world, buyer) {
      world.writerNode.intercept(async (call, forward) => {
        if (isSimulation(call)) {
          world.writerNode.intercept();
          await setRelayer(world.protocol, world.chain.owner, world.chain.relayer.address, false);
        }
        return forward();
      });
      return buyer.buy();
    },
    after: (world) => setRelayer(world.protocol, world.chain.owner, world.chain.relayer.address, true),
  },
  {
    what: "an id that is no product's",
    status: 404,
    code: "invalid_product",
    reach: (_world, buyer) => buyer.buy({ productName: undefined, productId: productIdOf("nothing") }),
  },
  {
    what: "a key that stands for another body",
    status: 409,
    code: "idempotency_conflict",
    policies: 1,
    async reach(_world, buyer) {
      const key = newKey();
      await buyer.buy({}, key);
      return buyer.buy({ coverageAmount: "100000001" }, key);
    },
  },
  {
    what: "a body of more than a megabyte",
    status: 413,
    code: "payload_too_large",
    reach: (_world, buyer) => buyer.buy({ more: "x".repeat(2 ** 20) }),
  },
  {
    what: "a body of another kind",
    status: 415,
    code: "unsupported_media_type",
    reach: (world, { headers }) =>
      world.request(PATH, { headers: { ...headers, "content-type": "text/plain" }, rawBody: "{}" }),
  },
  {
    what: "an inactive product",
    status: 422,
    code: "product_inactive",
    reach: (_world, buyer) => buyer.buy({ productName: undefined, productId: withdrawnTerms.productId }),
  },
  {
    what: "too little coverage",
    status: 422,
    code: "coverage_below_minimum",
    reach: (_world, buyer) => buyer.buy({ coverageAmount: "99999999" }),
  },
  {
    what: "more coverage than the vault can pay",
    status: 422,
    code: "coverage_above_maximum",
    reach: (_world, buyer) => buyer.buy({ coverageAmount: String(2n ** 100n) }),
  },
  {
    what: "a paused legacy entry",
    status: 422,
    code: "shield_paused",
    reach: (_world, buyer) => buyer.buy({ productName: undefined, productId: legacyTerms.productId }),
  },
  {
    what: "a product that was paused",
    status: 422,
    code: "shield_paused",
    reach: withChain((world) =>
      setProductPaused(world.protocol, world.chain.owner, productIdOf("FLASHBTC1H-001"), true),
    ),
    after: (world) =>
      setProductPaused(world.protocol, world.chain.owner, productIdOf("FLASHBTC1H-001"), false),
  },
  {
    what: "the third request in a minute of a key that may make two",
    status: 429,
    code: "rate_limit",
    async reach(world, { account }) {
      const { headers } = await keyHolder(world.strict, account);
      const request = { headers, body: {} };
      for (let n = 0; n < 2; n += 1) expect((await world.strict.request(PATH, request)).status).toBe(400);
      const answer = await world.strict.request(PATH, request);
      expect(answer.headers.get("x-ratelimit-limit")).toBe("2");
      expect(answer.headers.get("x-ratelimit-remaining")).toBe("0");
      return answer;
    },
  },
];

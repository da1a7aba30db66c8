import type { Context } from "hono";
import { isAddressEqual } from "viem";
import { ApiError } from "../../lib/errors.ts";
import type { PolicyKey } from "../chain/contracts/policy.ts";
import { scanPurchases } from "../chain/contracts/purchases.ts";
import type { LiveScans } from "../chain/live-scans.ts";
import { answerFromOneBlock } from "../chain/one-block.ts";
import { policyBody } from "../chain/policy-body.ts";
import type { RequireApiKey } from "../http/credentials.ts";
import type { Api } from "../http/env.ts";
import { type ClientOf, clientName } from "../http/limits/middleware.ts";
import { indexAge } from "../indexed/index-age.ts";
import type { IndexedResponses } from "../indexed/responses.ts";
import { readPolicyPage } from "./live-scan.ts";
import { createPageRead, pageBody } from "./page.ts";
import { type PolicyReaders, readPolicy } from "./reader.ts";
import {
  livePoliciesRoute,
  ownPoliciesRoute,
  policiesByBuyerRoute,
  policyRoute,
  prefixedPolicyRoute,
} from "./routes.ts";
import { addPolicySearchRoutes } from "./search-handlers.ts";

export type PolicyParts = PolicyReaders & {
  readonly responses: IndexedResponses;
  readonly liveScans: LiveScans;
  readonly clientOf: ClientOf;
  readonly apiKey: RequireApiKey;
};

/** Answers with one policy. @throws ApiError `policy_not_found` */
async function sendPolicy(c: Context, parts: PolicyParts, key: PolicyKey) {
  const found = await readPolicy(parts, key);
  if (!found) {
    throw new ApiError("policy_not_found", `The product ${key.productId} has no policy ${key.policyId}.`);
  }
  const { policy, asOf } = found;
  c.header(asOf.source === "index" ? "x-indexed-block" : "x-chain-block", String(asOf.number));
  if (asOf.source === "index") c.header("x-index-age", indexAge(asOf));
  return c.json(policyBody(policy, asOf), 200);
}

/** One policy by its key, a buyer's policies, a key's own policies, and a buyer's policies by a live scan. */
export function addPolicyRoutes(app: Api, parts: PolicyParts): void {
  const { responses, index, liveScans, clientOf, apiKey } = parts;
  app.openapi(policyRoute, (c) => sendPolicy(c, parts, c.req.valid("param")));

  const byBuyer = responses.define(createPageRead(index), (found, page, asOf) =>
    pageBody(parts, found, page, asOf),
  );
  app.openapi(policiesByBuyerRoute, async (c) =>
    responses.send(
      c,
      await byBuyer({ buyer: c.req.valid("param").address, ...c.req.valid("query") }),
      policiesByBuyerRoute,
    ),
  );

  addPolicySearchRoutes(app, parts);

  // After the route by buyer, which has as many parts.
  app.openapi(prefixedPolicyRoute, (c) => sendPolicy(c, parts, c.req.valid("param")));

  app.openapi({ ...ownPoliciesRoute, middleware: [apiKey("read")] as const }, async (c) => {
    const { wallet } = c.get("holder");
    const { owner = wallet, ...page } = c.req.valid("query");
    if (!isAddressEqual(owner, wallet)) {
      throw new ApiError(
        "forbidden",
        `The key belongs to ${wallet} and cannot list the policies of ${owner}.`,
      );
    }
    return responses.sendPrivately(c, await byBuyer({ buyer: wallet, ...page }));
  });

  const { reader, reads, logScan, protocol } = liveScans;
  const purchases = liveScans.share((scan, wallet, range) =>
    scanPurchases(scan, protocol().contracts, wallet, range),
  );
  app.openapi(livePoliciesRoute, async (c) => {
    const { wallet } = c.req.valid("param");
    const page = c.req.valid("query");
    const question = { wallet, client: clientName(c, clientOf) };
    c.header("Cache-Control", "no-store");
    const { block, body } = await answerFromOneBlock(reader, purchases, question, (found, at) =>
      readPolicyPage({ reads, logScan, protocol: protocol() }, wallet, found, page, at),
    );
    c.header("x-chain-block", String(block.number));
    return c.json(body, 200);
  });
}

import { policyBody } from "../chain/policy-body.ts";
import type { Api } from "../http/env.ts";
import { cursorOf, cutPage } from "../http/paging.ts";
import { pageRows } from "../indexed/feed.ts";
import type { IndexedResponses } from "../indexed/responses.ts";
import { toIndexedPolicy } from "./queries.ts";
import { completePolicy, type PolicyReaders } from "./reader.ts";
import { type PolicySearch, searchPolicies } from "./search-queries.ts";
import { searchPoliciesRoute } from "./search-routes.ts";

export type PolicySearchParts = PolicyReaders & { readonly responses: IndexedResponses };

/** Basis points as a percentage with 2 digits. */
function percentOf(bps: number | null): string | null {
  if (bps === null) return null;
  const digits = String(Math.abs(bps)).padStart(3, "0");
  return `${bps < 0 ? "-" : ""}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

export function addPolicySearchRoute(app: Api, parts: PolicySearchParts): void {
  const { responses, index } = parts;
  const search = responses.define(
    (query: PolicySearch) =>
      index.read(async (db, asOf) => searchPolicies(db, query, (await asOf).timestamp)),
    async (found, { limit, offset }, asOf) => {
      const { rows, next } = cutPage(pageRows(found).map(toIndexedPolicy), limit, cursorOf);
      const policies = await Promise.all(
        rows.map(async (row) => {
          const { txHash, blockNumber, logIndex } = row;
          const body = policyBody(await completePolicy(parts, row), asOf);
          const distanceToTriggerPercent = percentOf(body.distanceToTriggerBps);
          return { ...body, txHash, blockNumber: String(blockNumber), logIndex, distanceToTriggerPercent };
        }),
      );
      return { count: policies.length, limit, offset, nextCursor: next, policies };
    },
  );
  app.openapi(searchPoliciesRoute, async (c) =>
    responses.send(c, await search(c.req.valid("query")), searchPoliciesRoute),
  );
}

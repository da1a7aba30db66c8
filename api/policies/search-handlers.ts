import type { AsOf } from "../chain/block.ts";
import { policyEntry } from "../chain/policy-body.ts";
import type { Api } from "../http/env.ts";
import { cursorOf, cutPage } from "../http/paging.ts";
import { pageRows } from "../indexed/feed.ts";
import type { IndexedResponses } from "../indexed/responses.ts";
import { type NearestPage, readNearest } from "./nearest-queries.ts";
import { nearestPoliciesRoute } from "./nearest-routes.ts";
import { type IndexedPolicy, toIndexedPolicy } from "./queries.ts";
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

/** A policy that a search found, with its distance as a percentage too. */
async function foundPolicy(readers: PolicyReaders, row: IndexedPolicy, asOf: AsOf) {
  const entry = policyEntry(await completePolicy(readers, row), row, asOf);
  return { ...entry, distanceToTriggerPercent: percentOf(entry.distanceToTriggerBps) };
}

/** The search of all policies, and the active ones nearest to their trigger. */
export function addPolicySearchRoutes(app: Api, parts: PolicySearchParts): void {
  const { responses, index } = parts;
  const search = responses.define(
    (query: PolicySearch) =>
      index.read(async (db, asOf) => searchPolicies(db, query, (await asOf).timestamp)),
    async (found, { limit, offset }, asOf) => {
      const { rows, next } = cutPage(pageRows(found).map(toIndexedPolicy), limit, cursorOf);
      const policies = await Promise.all(rows.map((row) => foundPolicy(parts, row, asOf)));
      return { count: policies.length, limit, offset, nextCursor: next, policies };
    },
  );
  app.openapi(searchPoliciesRoute, async (c) =>
    responses.send(c, await search(c.req.valid("query")), searchPoliciesRoute),
  );

  const nearest = responses.define(
    (page: NearestPage) => index.read(async (db, asOf) => readNearest(db, page, (await asOf).timestamp)),
    async ({ rows, total }, { limit, offset }, asOf) => {
      const policies = await Promise.all(rows.map((row) => foundPolicy(parts, toIndexedPolicy(row), asOf)));
      return { count: policies.length, total, limit, offset, policies };
    },
  );
  app.openapi(nearestPoliciesRoute, async (c) =>
    responses.send(c, await nearest(c.req.valid("query")), nearestPoliciesRoute),
  );
}

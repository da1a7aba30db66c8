import { getAddress } from "viem";
import { ApiError } from "../../lib/errors.ts";
import { entryById } from "../../lib/products.ts";
import type { Api } from "../http/env.ts";
import { cursorOf, cutPage, type FeedPage } from "../http/paging.ts";
import { positionBody } from "../indexed/event-position.ts";
import { pageRows } from "../indexed/feed.ts";
import type { IndexReader } from "../indexed/reader.ts";
import type { IndexedResponses } from "../indexed/responses.ts";
import { duePolicyBody, lastMomentText } from "./due-body.ts";
import { type DuePage, readDuePage } from "./due-queries.ts";
import { duePoliciesRoute } from "./due-routes.ts";
import { evaluationBody } from "./evaluation-body.ts";
import { type EvaluationQuery, readEvaluation } from "./evaluation-queries.ts";
import { triggerEvaluationRoute } from "./evaluation-routes.ts";
import { readTriggers } from "./queries.ts";
import { triggersRoute } from "./routes.ts";

export type TriggerParts = { readonly index: IndexReader; readonly responses: IndexedResponses };

/** Successful triggers, the policies that are due, and the evaluation of one policy's trigger. */
export function addTriggerRoutes(app: Api, { index, responses }: TriggerParts): void {
  const recentTriggers = responses.define(
    (page: FeedPage) => index.rows((db) => readTriggers(db, page)),
    (found, { limit, offset }) => {
      const { rows, next } = cutPage(pageRows(found), limit, cursorOf);
      const triggers = rows.map((row) => ({
        productId: row.productId,
        productName: row.productName ?? entryById(row.productId)?.name ?? null,
        policyId: String(row.policyId),
        submitter: getAddress(row.submitter),
        buyer: getAddress(row.buyer),
        bondId: row.bondEpochId === null ? null : String(row.bondEpochId),
        bondAmount: String(row.bondAmount),
        ...positionBody(row),
      }));
      return { count: triggers.length, limit, offset, nextCursor: next, triggers };
    },
  );
  app.openapi(triggersRoute, async (c) =>
    responses.send(c, await recentTriggers(c.req.valid("query")), triggersRoute),
  );

  const duePolicies = responses.define(
    (page: DuePage) => index.read((db) => readDuePage(db, page)),
    (found, { limit, offset }) => {
      const { rows, next } = cutPage(found, limit, lastMomentText);
      return { count: rows.length, limit, offset, nextCursor: next, policies: rows.map(duePolicyBody) };
    },
  );
  app.openapi(duePoliciesRoute, async (c) =>
    responses.send(c, await duePolicies(c.req.valid("query")), duePoliciesRoute),
  );

  const evaluation = responses.define(
    (query: EvaluationQuery) => index.read((db) => readEvaluation(db, query)),
    (found, { productId, policyId, ...page }, asOf) => {
      if (found) return evaluationBody(found, page, asOf);
      const message = `The index has no policy ${policyId} of the product ${productId} at block ${asOf.number}: a new policy is in it once its block is indexed.`;
      throw new ApiError("policy_not_found", message);
    },
  );
  app.openapi(triggerEvaluationRoute, async (c) =>
    responses.send(
      c,
      await evaluation({ ...c.req.valid("param"), ...c.req.valid("query") }),
      triggerEvaluationRoute,
    ),
  );
}

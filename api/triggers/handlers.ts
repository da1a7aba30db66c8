import { getAddress } from "viem";
import { entryById } from "../../lib/products.ts";
import type { Api } from "../http/env.ts";
import { cursorOf, cutPage, type FeedPage } from "../http/paging.ts";
import { positionBody } from "../indexed/event-position.ts";
import { pageRows } from "../indexed/feed.ts";
import type { IndexReader } from "../indexed/reader.ts";
import type { IndexedResponses } from "../indexed/responses.ts";
import { readTriggers } from "./queries.ts";
import { triggersRoute } from "./routes.ts";

export type TriggerParts = { readonly index: IndexReader; readonly responses: IndexedResponses };

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
        buyer: row.buyer && getAddress(row.buyer),
        bondId: row.bondEpochId === null ? null : String(row.bondEpochId),
        bondAmount: row.bondAmount === null ? null : String(row.bondAmount),
        ...positionBody(row),
      }));
      return { count: triggers.length, limit, offset, nextCursor: next, triggers };
    },
  );
  app.openapi(triggersRoute, async (c) => responses.send(c, await recentTriggers(c.req.valid("query"))));
}

import { getAddress } from "viem";
import type { Api } from "../http/env.ts";
import { cursorOf, cutPage } from "../http/paging.ts";
import { positionBody } from "../indexed/event-position.ts";
import { pageRows } from "../indexed/feed.ts";
import type { IndexReader } from "../indexed/reader.ts";
import type { IndexedResponses } from "../indexed/responses.ts";
import { type BurnQuery, readBurns } from "./queries.ts";
import { burnsRoute } from "./routes.ts";

export type BurnParts = { readonly index: IndexReader; readonly responses: IndexedResponses };

export function addBurnRoutes(app: Api, { index, responses }: BurnParts): void {
  const recentBurns = responses.define(
    (query: BurnQuery) => index.rows((db) => readBurns(db, query)),
    (found, { limit, offset }) => {
      const { rows, next } = cutPage(pageRows(found), limit, cursorOf);
      const burns = rows.map((row) => ({
        source: row.source,
        burner: getAddress(row.burner),
        tokenBurned: String(row.tokenAmount),
        usdcSpent: String(row.usdcSpent),
        effectivePrice: row.effectivePrice === null ? null : String(row.effectivePrice),
        ...positionBody(row),
      }));
      return { count: burns.length, limit, offset, nextCursor: next, burns };
    },
  );
  app.openapi(burnsRoute, async (c) =>
    responses.send(c, await recentBurns(c.req.valid("query")), burnsRoute),
  );
}

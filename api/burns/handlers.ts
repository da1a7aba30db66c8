import { getAddress, type Hex } from "viem";
import { entryById } from "../../lib/products.ts";
import type { Api } from "../http/env.ts";
import { cursorOf, cutPage, type FeedPage, type Position, pagesOf } from "../http/paging.ts";
import type { Readers } from "../readers.ts";
import { readTriggers } from "../triggers/queries.ts";
import { type BurnQuery, readBurns } from "./queries.ts";
import { burnsRoute, triggersRoute } from "./routes.ts";

const positionBody = (row: Position & { txHash: Hex; blockTimestamp: bigint }) => ({
  txHash: row.txHash,
  blockNumber: String(row.blockNumber),
  blockTimestamp: String(row.blockTimestamp),
  logIndex: row.logIndex,
});

/** The feeds of triggers and burns. */
export function addFeedRoutes(app: Api, { answers, index }: Readers): void {
  const recentTriggers = answers.of(
    (page: FeedPage) => index.rows((db) => readTriggers(db, page)),
    (found, { limit, offset }) => {
      const { rows, next } = cutPage(pagesOf(found), limit, cursorOf);
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
  app.openapi(triggersRoute, async (c) => answers.send(c, await recentTriggers(c.req.valid("query"))));

  const recentBurns = answers.of(
    (query: BurnQuery) => index.rows((db) => readBurns(db, query)),
    (found, { limit, offset }) => {
      const { rows, next } = cutPage(pagesOf(found), limit, cursorOf);
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
  app.openapi(burnsRoute, async (c) => answers.send(c, await recentBurns(c.req.valid("query"))));
}

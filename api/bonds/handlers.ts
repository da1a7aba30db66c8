import type { Address } from "viem";
import { scanHoldings } from "../chain/contracts/holdings.ts";
import type { LiveScans } from "../chain/live-scans.ts";
import { answerFromOneBlock } from "../chain/one-block.ts";
import type { Api } from "../http/env.ts";
import { type ClientOf, clientName } from "../http/limits/middleware.ts";
import { pageRows } from "../indexed/feed.ts";
import type { IndexReader } from "../indexed/reader.ts";
import type { IndexedResponses } from "../indexed/responses.ts";
import { bondListBody } from "./body.ts";
import { prepareHoldings } from "./queries.ts";
import { bondsByOwnerRoute, liveBondsRoute } from "./routes.ts";

type Query = { address: Address; limit: number; offset: number };

export type BondParts = {
  readonly index: IndexReader;
  readonly responses: IndexedResponses;
  readonly liveScans: LiveScans;
  readonly clientOf: ClientOf;
};

/** An owner's bonds, from the index or by a live scan. */
export function addBondRoutes(app: Api, { index, responses, liveScans, clientOf }: BondParts): void {
  const holdingsOf = index.prepare(prepareHoldings);
  const byOwner = responses.define(
    ({ address }: Query) => holdingsOf(address),
    (found, { address, ...page }, { timestamp }) => bondListBody(address, pageRows(found), page, timestamp),
  );
  app.openapi(bondsByOwnerRoute, async (c) =>
    responses.send(c, await byOwner({ ...c.req.valid("param"), ...c.req.valid("query") })),
  );

  const { reader, reads, contracts } = liveScans;
  const holdings = liveScans.share((logs, wallet, range) =>
    scanHoldings(logs, reads, contracts(), wallet, range),
  );
  app.openapi(liveBondsRoute, async (c) => {
    const { wallet } = c.req.valid("param");
    const page = c.req.valid("query");
    const question = { wallet, client: clientName(c, clientOf) };
    c.header("Cache-Control", "no-store");
    const { block, body } = await answerFromOneBlock(
      reader,
      holdings,
      question,
      async (found, { timestamp }) => bondListBody(wallet, found, page, timestamp),
    );
    c.header("x-chain-block", String(block.number));
    return c.json(body, 200);
  });
}

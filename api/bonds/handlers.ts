import type { Address } from "viem";
import type { Api } from "../http/env.ts";
import { pagesOf } from "../http/paging.ts";
import type { Readers } from "../readers.ts";
import { bondListBody } from "./body.ts";
import { prepareHoldings } from "./queries.ts";
import { bondsByOwnerRoute } from "./routes.ts";

type Query = { address: Address; limit: number; offset: number };

/** Indexed reads of bonds. */
export function addBondRoutes(app: Api, { answers, index }: Readers): void {
  const holdingsOf = index.prepare(prepareHoldings);
  const byOwner = answers.of(
    ({ address }: Query) => holdingsOf(address),
    (found, { address, ...page }, { timestamp }) => bondListBody(address, pagesOf(found), page, timestamp),
  );
  app.openapi(bondsByOwnerRoute, async (c) =>
    answers.send(c, await byOwner({ ...c.req.valid("param"), ...c.req.valid("query") })),
  );
}

import type { Address } from "viem";
import { bondListBody } from "../bonds.ts";
import type { Api } from "../env.ts";
import { prepareHoldings } from "../queries/bonds.ts";
import type { Readers } from "../readers.ts";
import { pagesOf } from "../schemas/paging.ts";
import { bondsByOwnerRoute } from "./bonds.routes.ts";

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

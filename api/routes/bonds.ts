import type { Address } from "viem";
import { bondListBody } from "../bonds.ts";
import type { Api } from "../env.ts";
import { readHoldings } from "../queries/bonds.ts";
import type { Readers } from "../readers.ts";
import { bondsByOwnerRoute } from "./bonds.routes.ts";

type Query = { address: Address; limit: number; offset: number };

/** Indexed reads of bonds. */
export function addBondRoutes(app: Api, { answers }: Readers): void {
  const byOwner = answers.of(
    (db, { address }: Query) => readHoldings(db, address),
    (holdings, { address, ...page }, { timestamp }) => bondListBody(address, holdings, page, timestamp),
  );
  app.openapi(bondsByOwnerRoute, async (c) =>
    answers.send(c, await byOwner({ ...c.req.valid("param"), ...c.req.valid("query") })),
  );
}

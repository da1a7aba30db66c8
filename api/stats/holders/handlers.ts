import { getAddress } from "viem";
import type { Api } from "../../http/env.ts";
import { cutPage } from "../../http/paging.ts";
import { ratio } from "../ratio.ts";
import type { StatsParts } from "../stats-parts.ts";
import {
  countBuyers,
  countHolders,
  type HolderQuery,
  readBuyers,
  readCoverage,
  readEpochHolders,
  readHolders,
  readOutstanding,
} from "./queries.ts";
import { placeOf, type RankingPage } from "./ranking.ts";
import { buyersRoute, holdersRoute } from "./routes.ts";

export function addHolderRoutes(app: Api, { index, responses, deployment }: StatsParts): void {
  const { marketplace } = deployment.contracts;
  const holders = responses.define(
    (page: HolderQuery & RankingPage) => {
      const query = { ...page, marketplace };
      return index.read((db) =>
        Promise.all([
          readHolders(db, query),
          countHolders(db, query),
          readOutstanding(db, query),
          readEpochHolders(db, query),
        ]),
      );
    },
    ([found, { count, top }, outstanding, epochs], { limit }) => {
      const { rows, next } = cutPage(found, limit, ({ owner, bonds }) =>
        placeOf({ amount: bonds, address: owner }),
      );
      return {
        holders: rows.map(({ owner, bonds }) => ({
          holder: getAddress(owner),
          bonds_usd: String(bonds),
          share: ratio(bonds, outstanding),
        })),
        count: rows.length,
        next_cursor: next,
        holders_total: count,
        outstanding_usd: String(outstanding),
        top_10_share: ratio(top, outstanding),
        by_epoch: epochs.map((epoch) => ({
          epoch_id: String(epoch.epochId),
          holders: epoch.holders,
          outstanding_usd: String(epoch.supply),
        })),
      };
    },
  );
  app.openapi(holdersRoute, async (c) =>
    responses.send(c, await holders(c.req.valid("query")), holdersRoute),
  );

  const buyers = responses.define(
    (page: RankingPage) =>
      index.read((db) => Promise.all([readBuyers(db, page), countBuyers(db), readCoverage(db)])),
    ([found, { count, top }, coverage], { limit }) => {
      const { rows, next } = cutPage(found, limit, (row) =>
        placeOf({ amount: row.coverage, address: row.address }),
      );
      return {
        buyers: rows.map((row) => ({
          buyer: getAddress(row.address),
          policies: row.policies,
          coverage_usdc: String(row.coverage),
          premium_usdc: String(row.premium),
          share: ratio(row.coverage, coverage),
        })),
        count: rows.length,
        next_cursor: next,
        buyers_total: count,
        coverage_usdc: String(coverage),
        top_10_share: ratio(top, coverage),
      };
    },
  );
  app.openapi(buyersRoute, async (c) => responses.send(c, await buyers(c.req.valid("query")), buyersRoute));
}

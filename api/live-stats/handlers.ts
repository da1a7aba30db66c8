import type { Deployment, IncompleteDeployment } from "../../lib/deployments.ts";
import { shareReadOrLast } from "../../lib/shared-read.ts";
import type { ChainReads } from "../chain/chain-reads.ts";
import type { Api } from "../http/env.ts";
import { liveStatsBody } from "./body.ts";
import { liveStatsRoute } from "./routes.ts";

/** Maximum age of the figures, in ms: clients show them on a page and poll. */
const STATS_TTL_MS = 30_000;

export type LiveStatsParts = {
  readonly chain: ChainReads;
  readonly deployment: Deployment | IncompleteDeployment;
};

/** The protocol's figures from the contracts, cached in this process. */
export function addLiveStatsRoute(app: Api, { chain, deployment }: LiveStatsParts): void {
  const figures = shareReadOrLast(STATS_TTL_MS, async () => ({
    ...(await chain.protocolState()),
    readAt: new Date(),
  }));
  app.openapi(liveStatsRoute, async (c) => {
    const { value, stale } = await figures();
    return c.json(liveStatsBody(value, deployment, stale), 200);
  });
}

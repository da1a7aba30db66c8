import { bondListBody } from "../bonds/body.ts";
import type { ChainHead } from "../chain/chain-reads.ts";
import { scanHoldings } from "../chain/contracts/holdings.ts";
import { WindowSize } from "../chain/log-scan.ts";
import { createBlockReader } from "../chain/one-block.ts";
import { createScanRoom, shareScans } from "../chain/shared-scans.ts";
import { contractsOf, type Dependencies } from "../dependencies.ts";
import type { Api } from "../http/env.ts";
import { createPurchaseScan, readPolicyPage } from "../policies/live.ts";
import { liveBondsRoute, livePoliciesRoute } from "./routes.ts";

/** Lists of a wallet by a live scan of the chain: neither the index nor the database has a part in them. */
export function addPublicRoutes(app: Api, deps: Dependencies): void {
  const { live, deployment } = deps;
  const window = new WindowSize();
  const room = createScanRoom();
  const reader = createBlockReader(deps);
  const rangeTo = ({ number }: ChainHead) => ({ from: BigInt(deployment.startBlock), to: number });
  const scanPurchases = createPurchaseScan(deps);
  const purchases = shareScans(room, (wallet, block, signal) =>
    scanPurchases({ client: live.logs, window, signal }, wallet, rangeTo(block)),
  );
  const holdings = shareScans(room, (wallet, block, signal) => {
    const scan = { client: live.logs, window, signal };
    return scanHoldings(scan, live.reads, contractsOf(deployment), wallet, rangeTo(block));
  });

  app.openapi(livePoliciesRoute, async (c) => {
    const { wallet } = c.req.valid("param");
    const page = c.req.valid("query");
    c.header("Cache-Control", "no-store");
    const { block, body } = await reader.answer(purchases, wallet, (found, at) =>
      readPolicyPage(deps, wallet, found, page, at),
    );
    c.header("x-chain-block", String(block.number));
    return c.json(body, 200);
  });

  app.openapi(liveBondsRoute, async (c) => {
    const { wallet } = c.req.valid("param");
    const page = c.req.valid("query");
    c.header("Cache-Control", "no-store");
    const { block, body } = await reader.answer(holdings, wallet, async (found, { timestamp }) =>
      bondListBody(wallet, found, page, timestamp),
    );
    c.header("x-chain-block", String(block.number));
    return c.json(body, 200);
  });
}

import type { Context } from "hono";
import { type Address, isAddressEqual } from "viem";
import type { ReadClient } from "../../lib/chain/client.ts";
import type { Connection } from "../../lib/db/connect.ts";
import type { Deployment, IncompleteDeployment } from "../../lib/deployments.ts";
import { ApiError, type ErrorCode } from "../../lib/errors.ts";
import { contractsOf } from "../chain/contract-addresses.ts";
import { bondOf } from "../http/bond-inputs.ts";
import type { RequireApiKey } from "../http/credentials.ts";
import { fromDatabase } from "../http/dependency-timeout.ts";
import type { Api } from "../http/env.ts";
import type { IndexReader } from "../indexed/reader.ts";
import { listingBody, listingPurchaseBody, type RecordBodies, redemptionBody, reportBody } from "./body.ts";
import { readHoldings } from "./holdings.ts";
import { readQueued } from "./queue.ts";
import { buyRoute, listRoute, readReportRoute, redeemRoute } from "./routes.ts";
import { readReport, type StoredReport } from "./store.ts";
import { reportNode } from "./transaction.ts";
import { type ReportContext, verifyReport, verifyStored } from "./verify.ts";

export type ReportParts = {
  readonly connection: Connection;
  readonly client: ReadClient;
  readonly deployment: Deployment | IncompleteDeployment;
  readonly index: IndexReader;
  readonly apiKey: RequireApiKey;
};

/** @throws ApiError `code` unless the reported wallet is the key's */
function requireOwnWallet(
  reported: Address,
  wallet: Address,
  code: Extract<ErrorCode, "owner_mismatch" | "seller_mismatch" | "buyer_mismatch">,
): void {
  if (!isAddressEqual(reported, wallet))
    throw new ApiError(code, `The key belongs to ${wallet}, and the report names ${reported}.`);
}

/** The body of a recorded report; none of a pending one. @throws ApiError as every read of the index, if it was queued */
async function recordBodies(
  { client, deployment, index }: Pick<ReportParts, "client" | "deployment" | "index">,
  { id, report, record }: StoredReport,
): Promise<RecordBodies> {
  if (record === null) return {};
  const { event } = record;
  const holdings = await readHoldings(client, () => contractsOf(deployment), record);
  const common = { id, report, holdings };
  switch (event.kind) {
    case "redeem": {
      const { outcome } = event;
      const entry =
        outcome.status === "queued" ? await readQueued(index, report.txHash, event.logIndex) : null;
      return { redemption: redemptionBody({ ...common, record: { ...record, event } }, entry) };
    }
    case "list":
      return { listing: listingBody({ ...common, record: { ...record, event } }) };
    case "buy":
      return { purchase: listingPurchaseBody({ ...common, record: { ...record, event } }) };
  }
}

/** Wallets report the redemptions, listings and purchases of bonds that they have sent themselves. */
export function addReportRoutes(app: Api, parts: ReportParts): void {
  const { connection, client, deployment, index, apiKey } = parts;
  const { chainId } = deployment;
  const context: ReportContext = {
    sql: connection.sql,
    node: reportNode(client),
    chainId,
    contracts: () => contractsOf(deployment),
    indexedBlock: () =>
      index.head().then(
        ({ number }) => number,
        () => undefined,
      ),
  };
  const setLocation = (c: Context, { id }: StoredReport) => c.header("Location", `/api/v1/reports/${id}`);

  app.openapi({ ...redeemRoute, middleware: [apiKey("read", "buy")] as const }, async (c) => {
    const { ownerAddress: wallet, txHash, usdAmount: amount, ...bond } = c.req.valid("json");
    requireOwnWallet(wallet, c.get("holder").wallet, "owner_mismatch");
    const epochId = bondOf(bond);
    const stored = await verifyReport(context, { kind: "redeem", wallet, txHash, epochId, amount });
    setLocation(c, stored);
    const { redemption } = await recordBodies(parts, stored);
    return redemption ? c.json(redemption, 200) : c.json(reportBody(stored, {}), 202);
  });

  app.openapi({ ...listRoute, middleware: [apiKey("read", "buy")] as const }, async (c) => {
    const { sellerAddress: wallet, txHash, amount, totalPriceUsdc: price, ...bond } = c.req.valid("json");
    requireOwnWallet(wallet, c.get("holder").wallet, "seller_mismatch");
    const epochId = bondOf(bond);
    const stored = await verifyReport(context, { kind: "list", wallet, txHash, epochId, amount, price });
    setLocation(c, stored);
    const { listing } = await recordBodies(parts, stored);
    return listing ? c.json(listing, 200) : c.json(reportBody(stored, {}), 202);
  });

  app.openapi({ ...buyRoute, middleware: [apiKey("read", "buy")] as const }, async (c) => {
    const { buyerAddress: wallet, txHash, listingId, amount, totalPaidUsdc: price } = c.req.valid("json");
    requireOwnWallet(wallet, c.get("holder").wallet, "buyer_mismatch");
    const stored = await verifyReport(context, { kind: "buy", wallet, txHash, listingId, amount, price });
    setLocation(c, stored);
    const { purchase } = await recordBodies(parts, stored);
    return purchase ? c.json(purchase, 200) : c.json(reportBody(stored, {}), 202);
  });

  app.openapi({ ...readReportRoute, middleware: [apiKey("read", "buy")] as const }, async (c) => {
    const { id } = c.req.valid("param");
    const stored = await fromDatabase(() => readReport(context.sql, chainId, id));
    // Another wallet's report does not exist for this key.
    if (!stored || !isAddressEqual(stored.report.wallet, c.get("holder").wallet)) {
      throw new ApiError("not_found", `There is no report ${id}.`);
    }
    const verified = await verifyStored(context, stored);
    return c.json(reportBody(verified, await recordBodies(parts, verified)), 200);
  });
}

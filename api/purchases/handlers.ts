import type { Connection } from "../../lib/db/connect.ts";
import { ApiError } from "../../lib/errors.ts";
import { readPurchase } from "../../lib/ledger/purchases.ts";
import { traceparentOf } from "../../lib/trace-context.ts";
import type { Buy } from "../buying/buy.ts";
import { type PurchaseMode, requireRelayed } from "../buying/purchase-mode.ts";
import { failureError } from "../buying/refusal-errors.ts";
import type { RequireApiKey } from "../http/credentials.ts";
import { fromDatabase } from "../http/dependency-timeout.ts";
import type { Api } from "../http/env.ts";
import { refuseRepeatedKey, requireKeyWithoutWaiting } from "../http/idempotency-key.ts";
import { purchaseBody, receiptBody } from "./body.ts";
import { purchaseRoute, readPurchaseRoute } from "./routes.ts";

/** `Retry-After` of a pending purchase, in seconds: one or two blocks. */
const PENDING_RETRY_SECONDS = 5;

const pathOf = (purchaseId: string) => `/api/v1/purchases/${purchaseId}`;

const RESPOND_ASYNC = "respond-async";

/** Whether a `Prefer` header (RFC 7240) asks for a response before the outcome is known. */
const prefersNoWait = (prefer: string | undefined): boolean =>
  (prefer ?? "")
    .split(",")
    .some((preference) => preference.split(";")[0]?.trim().toLowerCase() === RESPOND_ASYNC);

const pending = (purchaseId: string) =>
  new ApiError(
    "purchase_pending",
    `The purchase is still in progress: see GET ${pathOf(purchaseId)}, or send the same request again.`,
    { retryAfter: PENDING_RETRY_SECONDS },
  );

export type PurchaseParts = {
  readonly connection: Connection;
  readonly apiKey: RequireApiKey;
  /** Counts reads of purchases apart from the key's other requests. */
  readonly purchaseReader: RequireApiKey;
  readonly buy: Buy;
  readonly purchaseMode: PurchaseMode;
};

export function addPurchaseRoutes(app: Api, parts: PurchaseParts): void {
  const { connection, apiKey, purchaseReader, buy, purchaseMode } = parts;
  app.openapi({ ...purchaseRoute, middleware: [apiKey("buy")] as const }, async (c) => {
    const { "Idempotency-Key": idempotencyKey = null, Prefer: prefer } = c.req.valid("header");
    requireRelayed(purchaseMode);
    refuseRepeatedKey(c);
    const waits = !prefersNoWait(prefer);
    requireKeyWithoutWaiting(idempotencyKey, waits);
    const { purchase, created } = await buy(c.get("holder"), c.req.valid("json"), {
      idempotencyKey,
      waits,
      gone: c.req.raw.signal,
      traceparent: traceparentOf(c.req.header("traceparent")),
    });
    c.header("Location", pathOf(purchase.id));
    switch (purchase.state) {
      case "mined":
      case "confirmed":
        return c.json(receiptBody(purchase, purchase.receipt), created ? 201 : 200);
      case "failed":
      case "replaced":
        throw failureError(purchase);
      default:
        if (waits) throw pending(purchase.id);
        c.header("Preference-Applied", RESPOND_ASYNC);
        return c.json(purchaseBody(purchase), 202);
    }
  });

  app.openapi({ ...readPurchaseRoute, middleware: [purchaseReader("read", "buy")] as const }, async (c) => {
    const { id } = c.req.valid("param");
    const purchase = await fromDatabase(() => readPurchase(connection.sql, id));
    // Another wallet's purchase does not exist for this key.
    if (purchase?.wallet !== c.get("holder").wallet.toLowerCase()) {
      throw new ApiError("not_found", `There is no purchase ${id}.`);
    }
    // Not noted as reported: a client may still repeat the call that was answered with 503, and must not buy twice.
    return c.json(purchaseBody(purchase), 200);
  });
}

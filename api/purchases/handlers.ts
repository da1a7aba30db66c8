import { ApiError } from "../../lib/errors.ts";
import { readPurchase } from "../../lib/ledger/purchases.ts";
import { createPurchasing } from "../buying/buy.ts";
import { failureError } from "../buying/refusals.ts";
import type { Dependencies } from "../dependencies.ts";
import { requireApiKey } from "../http/credentials.ts";
import { fromDatabase } from "../http/dependency-timeout.ts";
import type { Api } from "../http/env.ts";
import { refuseRepeatedKey } from "../http/idempotency-key.ts";
import type { Readers } from "../readers.ts";
import { purchaseBody, receiptBody } from "./body.ts";
import { purchaseRoute, readPurchaseRoute } from "./routes.ts";

/** Seconds after which a purchase that is still on its way may be asked for again: a block or two later. */
const PENDING_RETRY_SECONDS = 5;

const addressOf = (purchaseId: string) => `/api/v1/purchases/${purchaseId}`;

const RESPOND_ASYNC = "respond-async";

/** Whether a `Prefer` header (RFC 7240) asks for an answer before the outcome is known. */
const prefersNoWait = (prefer: string | undefined): boolean =>
  (prefer ?? "")
    .split(",")
    .some((preference) => preference.split(";")[0]?.trim().toLowerCase() === RESPOND_ASYNC);

const pending = (purchaseId: string) =>
  new ApiError(
    "purchase_pending",
    `The purchase is still on its way: see GET ${addressOf(purchaseId)}, or send the same request again.`,
    { retryAfter: PENDING_RETRY_SECONDS },
  );

/** Buying a policy, and what became of a purchase. */
export function addPurchaseRoutes(app: Api, deps: Dependencies, readers: Readers): void {
  const purchasing = createPurchasing(deps, readers);
  const apiKey = requireApiKey(deps);

  app.openapi({ ...purchaseRoute, middleware: [apiKey] as const }, async (c) => {
    const { "Idempotency-Key": idempotencyKey = null, Prefer: prefer } = c.req.valid("header");
    refuseRepeatedKey(c);
    const waits = !prefersNoWait(prefer);
    const { purchase, created } = await purchasing.buy(c.get("agent"), c.req.valid("json"), {
      idempotencyKey,
      waits,
      gone: c.req.raw.signal,
    });
    c.header("Location", addressOf(purchase.id));
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

  app.openapi({ ...readPurchaseRoute, middleware: [apiKey] as const }, async (c) => {
    const { id } = c.req.valid("param");
    const purchase = await fromDatabase(() => readPurchase(deps.connection.db, id));
    // Another wallet's purchase does not exist for this key.
    if (purchase?.wallet !== c.get("agent").wallet.toLowerCase()) {
      throw new ApiError("not_found", `There is no purchase ${id}.`);
    }
    // Not noted as told: who looks here may still repeat the call that was answered with 503, and must not buy twice.
    return c.json(purchaseBody(purchase), 200);
  });
}

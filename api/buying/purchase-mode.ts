import { ApiError } from "../../lib/errors.ts";

/** Whether this service sends purchases of the main chain, or its buyers do, because its wallets are not on the router's allowlist. */
export type PurchaseMode = "relayed" | "prepared";

/** @throws ApiError `relayer_unauthorized`, with the way out, where buyers send their purchases themselves */
export function requireRelayed(mode: PurchaseMode): void {
  if (mode === "relayed") return;
  throw new ApiError(
    "relayer_unauthorized",
    "This service sends no purchases: it has no wallet on the cover router's allowlist. POST /api/v1/policies/prepare prepares the purchase that the buyer's wallet sends itself.",
  );
}

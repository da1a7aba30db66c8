/** A purchase that the service is making, and how it ends. */
import type { ErrorCode } from "../api-error.ts";
import { type WithBigints, withBigints } from "../bigints.ts";
import type { Schema } from "../operations.ts";
import { pause } from "../pause.ts";
import { type Context, given, type Options, type Read, read } from "./context.ts";

/** What was bought: the policy, its price in USDC (6 decimals), the transaction. */
export type Receipt = WithBigints<Schema<"PurchaseReceipt">>;
/** How far a purchase is. */
export type Purchase = Read<"/api/v1/purchases/{id}">;

/** Failures that the same order would have again: its key, its buyer, its product or its price is the cause. */
const lasting: ReadonlySet<string> = /* @__PURE__ */ new Set<ErrorCode>([
  "onchain_revert",
  "unauthenticated",
  "price_mismatch",
  "buyer_not_authorized",
  "not_authorized_relayer",
  "product_inactive",
  "shield_paused",
  "coverage_above_maximum",
]);

/** Nothing was bought, and nothing will be under this purchase's id. */
export class PurchaseFailed extends Error {
  override readonly name = "PurchaseFailed";
  /** The code that the purchase call returns, such as `onchain_revert`. */
  readonly code: string;
  readonly purchaseId: string;
  /** Whether the same order may succeed later: the cause passes by itself. */
  readonly retryable: boolean;

  constructor({ purchaseId, failure }: Purchase) {
    super(failure?.message ?? "The purchase was replaced: it was not mined in time.");
    this.code = failure?.error ?? "purchase_expired";
    this.purchaseId = purchaseId;
    this.retryable = !lasting.has(this.code);
  }
}

export type WaitOptions = Options & {
  /** `mined`, if left out: the first block; `confirmed`: deep enough that a reorganisation is unlikely. */
  readonly until?: "mined" | "confirmed";
};

/** A purchase in progress: store `purchaseId`, and {@link pendingPurchase} of it goes on after a restart. */
export type PendingPurchase = {
  readonly purchaseId: string;
  /** How far it is now. @throws ApiError, ConnectionError */
  read(options?: Options): Promise<Purchase>;
  /**
   * Waits for its block.
   * @throws PurchaseFailed when nothing was bought; ApiError, ConnectionError: wait again; the signal's reason
   */
  wait(options?: WaitOptions): Promise<Receipt>;
};

/** Looks become rarer: a purchase that no block takes soon waits for minutes, and a key has 120 looks a minute for all of its own. */
const SLOWER = 1.5;
const LONGEST_PAUSE_MS = 10_000;

async function waitFor(pending: PendingPurchase, pollMs: number, options: WaitOptions): Promise<Receipt> {
  const { until = "mined", signal } = options;
  for (let pauseMs = pollMs; ; pauseMs = Math.min(pauseMs * SLOWER, LONGEST_PAUSE_MS)) {
    const purchase = await pending.read(given(options));
    const { state, receipt } = purchase;
    if (state === "failed" || state === "replaced") throw new PurchaseFailed(purchase);
    if (receipt && (state === "confirmed" || state === until)) return receipt;
    await pause(pauseMs, signal);
  }
}

/** The purchase with this id, of a wallet of the client's key. */
export function pendingPurchase(context: Context, purchaseId: string): PendingPurchase {
  const pending: PendingPurchase = {
    purchaseId,
    read: (options = {}) =>
      read(context, "/api/v1/purchases/{id}", { path: { id: purchaseId }, ...given(options) }),
    wait: (options = {}) => waitFor(pending, context.pollMs, options),
  };
  return pending;
}

/** The purchase that an answer names, with the receipt if it has one. */
export function purchaseIn(
  context: Context,
  answer: Schema<"PurchaseReceipt"> | Schema<"Purchase">,
): PendingPurchase {
  const pending = pendingPurchase(context, answer.purchaseId);
  if (!("policyId" in answer)) return pending;
  const receipt = withBigints(answer);
  return {
    ...pending,
    wait: async (options = {}) => (options.until === "confirmed" ? pending.wait(options) : receipt),
  };
}

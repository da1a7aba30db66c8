/** The API's errors for purchases that are refused or failed. */
import type { Address } from "viem";
import { ApiError, type ErrorCode } from "../../lib/errors.ts";
import type { PurchaseIntent } from "./accept-purchases.ts";
import type { Funds, Refusal } from "./refusal-reasons.ts";

const stopScopes = {
  global: "all purchases",
  wallet: "the purchases of this key's wallet",
  key: "the purchases of this key",
} as const;

/** The revert that a simulation would return once the buyer's other purchases are mined. */
function shortOfFunds(
  { balance, allowance }: Funds,
  held: bigint,
  premium: bigint,
  buyer: Address,
  router: Address,
): string {
  const needed = held + premium;
  const reason =
    allowance < needed
      ? `ERC20InsufficientAllowance(${router}, ${allowance}, ${needed})`
      : `ERC20InsufficientBalance(${buyer}, ${balance}, ${needed})`;
  return `The purchase would revert: ${reason}. The buyer's purchases in flight need ${held} of it.`;
}

const DAY_SECONDS = 86_400;
const HOUR_SECONDS = 3600;

/** Seconds until this UTC day ends. */
const restOfDay = () => DAY_SECONDS - (Math.floor(Date.now() / 1000) % DAY_SECONDS);

type Limited = Extract<Refusal, { kind: "limited" }>;

function keyLimitError(refusal: Limited, productId: string, premium: bigint): ApiError {
  switch (refusal.by) {
    case "scope":
      return new ApiError("insufficient_scope", "This key may not buy: it lacks the scope `buy`.");
    case "product":
      return new ApiError("product_not_allowed", `This key may not buy the product ${productId}.`);
    case "purchase":
      return new ApiError(
        "key_purchase_cap_exceeded",
        `The premium is ${premium}, and this key may spend ${refusal.most} on one purchase (USDC, 6 decimals).`,
      );
    case "day":
      return new ApiError(
        "key_daily_cap_reached",
        `The premium is ${premium}, and this key has ${refusal.most < 0n ? 0n : refusal.most} left for this UTC day (USDC, 6 decimals).`,
        { retryAfter: restOfDay() },
      );
  }
}

/** `Retry-After` while another permit is not mined, in seconds: two blocks of an L2. */
const PERMIT_RETRY_SECONDS = 4;

/** A refusal that a client can get: unknown funds are read first. */
export type FinalRefusal = Exclude<Refusal, { kind: "funds_unknown" }>;

/** The documented error for a refusal. `premium` is the refused purchase's, with 6 decimals. */
export function refusalError(
  refusal: FinalRefusal,
  { wallet, request, router }: Pick<PurchaseIntent, "wallet" | "request" | "router">,
  premium: bigint,
): ApiError {
  const { buyer } = request;
  switch (refusal.kind) {
    case "revoked":
      return new ApiError("unauthenticated", "The key was revoked.");
    case "stopped":
      return new ApiError("purchases_stopped", `The operator has stopped ${stopScopes[refusal.scope]}.`);
    case "limited":
      return keyLimitError(refusal, request.productId, premium);
    case "paused":
      return new ApiError(
        "purchases_paused",
        "Three purchases or permits of this buyer reverted within an hour: it may buy again when the pause is over.",
        { retryAfter: refusal.secondsLeft },
      );
    case "not_delegated":
      return new ApiError(
        "buyer_not_authorized",
        refusal.left === undefined
          ? `The key belongs to ${wallet}. It may not spend the money of ${buyer}, who has not delegated to it.`
          : `The delegation of ${buyer} to ${wallet} has ${refusal.left < 0n ? 0n : refusal.left} left for premiums, and this one is ${premium} (USDC, 6 decimals).`,
      );
    case "permit_in_flight":
      return new ApiError(
        "permit_in_flight",
        "Another permit of the buyer is not mined yet: send this purchase again after it, with a permit that has the next nonce.",
        { retryAfter: PERMIT_RETRY_SECONDS },
      );
    case "short_of_funds":
      return new ApiError(
        "onchain_revert",
        shortOfFunds(refusal.funds, refusal.held, premium, buyer, router),
      );
  }
}

/** The error of a recorded purchase that failed. A gas budget is new at the end of the UTC day; a pause takes at most an hour. */
export function failureError({ code, message }: { code: ErrorCode; message: string }): ApiError {
  const retryAfter: Partial<Record<ErrorCode, number>> = {
    gas_budget_exceeded: restOfDay(),
    purchases_paused: HOUR_SECONDS,
  };
  return new ApiError(code, message, { retryAfter: retryAfter[code] });
}

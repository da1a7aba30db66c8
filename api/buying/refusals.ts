/** What keeps a purchase from being recorded, in the API's words. */
import type { Address } from "viem";
import { ApiError, type ErrorCode } from "../../lib/errors.ts";
import type { Wish } from "./accept.ts";
import type { Funds, Hindrance } from "./guards.ts";

const stoppedWhat = {
  global: "all purchases",
  wallet: "the purchases of this key's wallet",
  key: "the purchases of this key",
} as const;

/** The contract's own words for the same: they are what a simulation would say once the others are mined. */
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
  return `The purchase would revert: ${reason}, for the buyer's purchases on their way take ${held} of it.`;
}

/** What is left to say to the client once the buyer's funds are known. */
export type Refusal = Exclude<Hindrance, { kind: "funds_unknown" }>;

/** The documented failure for a hindrance. `premium`, of the purchase that is hindered, has 6 decimals. */
export function hindranceError(
  by: Refusal,
  { wallet, request, router }: Pick<Wish, "wallet" | "request" | "router">,
  premium: bigint,
): ApiError {
  const { buyer } = request;
  switch (by.kind) {
    case "stopped":
      return new ApiError("purchases_stopped", `The operator has stopped ${stoppedWhat[by.scope]}.`);
    case "resting":
      return new ApiError(
        "purchases_paused",
        "Three purchases of this key's wallet reverted within an hour: it may buy again when the pause is over.",
        { retryAfter: by.secondsLeft },
      );
    case "not_delegated":
      return new ApiError(
        "buyer_not_authorized",
        by.left === undefined
          ? `The key belongs to ${wallet} and may not spend the money of ${buyer}, who has not delegated to it.`
          : `What ${buyer} has delegated to ${wallet} covers premiums of ${by.left < 0n ? 0n : by.left} more, and this one is ${premium} (USDC, 6 decimals).`,
      );
    case "short_of_funds":
      return new ApiError("onchain_revert", shortOfFunds(by.funds, by.held, premium, buyer, router));
  }
}

const DAY_SECONDS = 86_400;
const HOUR_SECONDS = 3600;

/**
 * The failure of a recorded purchase as an answer. A budget is new when the UTC day ends; a pause lasts an hour at most.
 */
export function failureError({ code, message }: { code: ErrorCode; message: string }): ApiError {
  const retryAfter: Partial<Record<ErrorCode, number>> = {
    gas_budget_exceeded: DAY_SECONDS - (Math.floor(Date.now() / 1000) % DAY_SECONDS),
    purchases_paused: HOUR_SECONDS,
  };
  return new ApiError(code, message, { retryAfter: retryAfter[code] });
}

import { getAddress } from "viem";
import { entryById } from "../../lib/products.ts";
import { assetPrice } from "../chain/contracts/prices.ts";
import { claimOf } from "../chain/policy-body.ts";
import { decimalOrNull } from "../http/field-types.ts";
import type { DueRow, LastMoment } from "./due-queries.ts";
import type { DuePolicyBody } from "./due-routes.ts";
import { lastObservation } from "./window.ts";

/** The cursor of a due policy. */
export const lastMomentText = ({ lastMoment, productId, policyId }: LastMoment): string =>
  `${lastMoment}-${productId}-${policyId}`;

/** A due policy, with the observation that a call makes now. */
export function duePolicyBody(row: DueRow): DuePolicyBody {
  const current =
    row.answer === null || row.answeredAt === null ? null : assetPrice(row.answer, row.answeredAt);
  const buyer = getAddress(row.buyer);
  return {
    productId: row.productId,
    productName: row.productName ?? entryById(row.productId)?.name ?? null,
    policyId: String(row.policyId),
    buyer,
    holder: buyer,
    coverageAmount: String(row.coverage),
    payoutAmount: String(row.payout),
    strikePrice: String(row.strike),
    triggerPrice: String(row.triggerPrice),
    currentPrice: decimalOrNull(current?.price ?? null),
    currentPriceAt: decimalOrNull(current?.updatedAt ?? null),
    expiresAt: String(row.expiresAt),
    observation: row.observations + 1,
    observedAt: decimalOrNull(lastObservation(row)),
    observeUntil: String(row.lastMoment),
    claim: claimOf(row),
  };
}

import { getAddress } from "viem";
import { entryById } from "../../lib/products.ts";
import { assetPrice } from "../chain/contracts/prices.ts";
import { claimOf } from "../chain/policy-body.ts";
import { decimalOrNull } from "../http/field-types.ts";
import type { Deadline, DueRow } from "./due-queries.ts";
import type { DuePolicyBody } from "./due-routes.ts";
import { toFallenRounds } from "./fallen-rounds.ts";
import { proofBody } from "./proof-body.ts";

/** The cursor of a due policy. */
export const deadlineText = ({ expiresAt, productId, policyId }: Deadline): string =>
  `${expiresAt}-${productId}-${policyId}`;

/** A due policy, with the proof of its trigger. */
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
    metAt: String(row.metAt),
    ...proofBody(toFallenRounds(row.rounds), row.expiresAt),
    claim: claimOf(row),
  };
}

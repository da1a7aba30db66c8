import { getAddress } from "viem";
import { type PolicyStatus, policyStatus } from "../../lib/indexed/policy-status.ts";
import { FEED_TO_PRICE } from "../../lib/price-rules.ts";
import { entryById } from "../../lib/products.ts";
import type { AsOf } from "../chain/block.ts";
import { assetPrice } from "../chain/contracts/prices.ts";
import { distanceBps } from "../chain/policy-body.ts";
import { decimalOrNull } from "../http/field-types.ts";
import { cutPage } from "../http/paging.ts";
import { positionBody } from "../indexed/event-position.ts";
import type { Evaluation, RoundPlace, RoundRow } from "./evaluation-queries.ts";
import type { TriggerEvaluationBody } from "./evaluation-routes.ts";
import { obstaclesOf, verdictOf } from "./verdict.ts";
import { roundVerdict, type Window, windowOf } from "./window.ts";

const placeText = ({ updatedAt, roundId }: RoundPlace): string => `${updatedAt}-${roundId}`;

const evaluatedRound = (row: RoundRow, window: Window, phase: number) => ({
  roundId: String(row.roundId),
  phase: row.phase,
  price: row.answer < 0n ? null : String(row.answer * FEED_TO_PRICE),
  updatedAt: String(row.updatedAt),
  verdict: roundVerdict(row, window, phase),
  ...positionBody(row),
});

/** The status at the block's time; null where the end of the cover is unknown and nothing has closed the policy. */
function statusOf({ policy }: Evaluation, now: bigint): PolicyStatus | null {
  const { triggeredAt, markedExpiredAt, expiresAt } = policy;
  const triggered = triggeredAt !== null;
  if (expiresAt === null && !triggered) return markedExpiredAt === null ? null : "Expired";
  return policyStatus({ triggered, expiresAt: expiresAt ?? 0n }, now);
}

/** The evaluation of a policy's trigger at a block, with one page of rounds. */
export function evaluationBody(
  found: Evaluation,
  { limit }: { readonly limit: number },
  { timestamp: now }: AsOf,
): TriggerEvaluationBody {
  const { policy, feed } = found;
  const window = windowOf(policy);
  const status = statusOf(found, now);
  const isOpen = status === "Active";
  const current =
    feed && feed.answer !== null && feed.updatedAt !== null ? assetPrice(feed.answer, feed.updatedAt) : null;
  const { rows, next } = cutPage(found.rounds, limit, placeText);
  const rounds = window ? rows.map((row) => evaluatedRound(row, window, found.lastPhase ?? 0)) : [];
  const buyer = getAddress(policy.buyer);
  const facts = { ...found, now };
  return {
    productId: policy.productId,
    productName: found.productName ?? entryById(policy.productId)?.name ?? null,
    policyId: String(policy.policyId),
    buyer,
    holder: buyer,
    coverageAmount: String(policy.coverage),
    payoutAmount: String(policy.payout),
    purchasedAt: String(policy.createdAt),
    status,
    coverFrom: decimalOrNull(window?.coverFrom ?? null),
    expiresAt: decimalOrNull(policy.expiresAt),
    strikePrice: decimalOrNull(policy.strike),
    triggerPrice: decimalOrNull(policy.triggerPrice),
    currentPrice: decimalOrNull(current?.price ?? null),
    currentPriceAt: decimalOrNull(current?.updatedAt ?? null),
    distanceToTriggerBps:
      isOpen && window && current ? distanceBps(current.price, window.triggerPrice) : null,
    verdict: verdictOf(facts),
    obstacles: isOpen ? obstaclesOf(facts) : [],
    roundsCounted: found.fallen?.length ?? 0,
    metAt: found.metAt,
    count: rounds.length,
    limit,
    nextCursor: next,
    rounds,
  };
}

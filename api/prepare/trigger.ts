import { getAddress } from "viem";
import { shieldKeeperAbi } from "../../abis/ShieldKeeper.ts";
import { readOpenKeeper } from "../../lib/chain/open-keeper.ts";
import { upkeepCalldata, upkeepGas } from "../../lib/chain/trigger.ts";
import { ApiError } from "../../lib/errors.ts";
import { policyStatus } from "../../lib/indexed/policy-status.ts";
import { DWELL, MAX_PRICE_AGE, OBSERVATION_INTERVAL } from "../../lib/price-rules.ts";
import { entryById } from "../../lib/products.ts";
import { type ObservedPrice, readObservedPrice, refusalOf } from "../chain/contracts/observation.ts";
import { type ChainPolicy, type PolicyKey, readPolicy } from "../chain/contracts/policy.ts";
import { readSequencerActive } from "../chain/contracts/selling.ts";
import { usdcText } from "./amount-text.ts";
import type { Issue } from "./issue-schemas.ts";
import {
  closedKeeperIssue,
  expiredIssue,
  finalizedIssue,
  freshPriceIssue,
  notTriggeredIssue,
  sequencerIssue,
  tooEarlyIssue,
  unknownTermsIssue,
  unsettledIssue,
} from "./issues.ts";
import { issuesOf, type Plan, type PlanContext } from "./plan.ts";
import { actionStep, type Step } from "./steps.ts";

/** Why a policy is no longer open at the block's time; undefined for an open one. */
function closedIssue({ block }: PlanContext, policy: ChainPolicy): Issue | undefined {
  const status = policyStatus(policy, block.timestamp);
  if (status === "Triggered") return finalizedIssue;
  return status === "Expired" ? expiredIssue(policy.expiresAt) : undefined;
}

/** Why the price of an open policy cannot be observed at the block's time; undefined where price and time allow it. */
function priceIssue(
  { block }: PlanContext,
  { createdAt, triggerPrice }: ChainPolicy,
  { feed, price, observed }: ObservedPrice,
): Issue | undefined {
  const from =
    observed.count === 0 ? createdAt + BigInt(DWELL) : observed.lastAt + BigInt(OBSERVATION_INTERVAL);
  // A call that sees a price above the trigger price resets the observations.
  if (triggerPrice === null) return unknownTermsIssue;
  if (price !== null && price.price > triggerPrice)
    return notTriggeredIssue({ price: price.price, triggerPrice });
  if (block.timestamp < from) return tooEarlyIssue(from);
  return freshPriceIssue(feed, price, block);
}

function observationStep({ productId, policyId }: PolicyKey, what: string): Step {
  return actionStep({
    id: "trigger",
    description: `Observes the price for ${what}. It must be signed with its gas limit: an estimate is too low.`,
    contract: "shieldKeeper",
    abi: shieldKeeperAbi,
    data: upkeepCalldata(productId, [policyId]),
    gas: upkeepGas(1),
  });
}

/** Reads an open policy from the contracts, and makes the step where they would observe it. */
async function planObservation(
  context: PlanContext,
  policy: ChainPolicy,
  what: string,
): Promise<Omit<Plan, "summary">> {
  const { reads, contracts, block } = context;
  const { shield: adapter, policyId, expiresAt } = policy;
  const [seen, keeper, sequencerActive] = await Promise.all([
    readObservedPrice(reads, { adapter, policyId }, block.number),
    readOpenKeeper(reads, contracts, { productId: policy.productId, adapter }, block.number),
    readSequencerActive(reads, contracts, block.number),
  ]);
  const issues = issuesOf(
    sequencerActive ? undefined : sequencerIssue,
    keeper ? undefined : closedKeeperIssue,
    priceIssue(context, policy, seen),
  );
  if (keeper === undefined || issues.length > 0) return { issues, steps: [], endsAt: [expiresAt] };
  const refusal = await refusalOf(reads, { adapter, keeper, policyId }, block.number);
  if (refusal !== undefined) return { issues: [unsettledIssue(refusal)], steps: [], endsAt: [expiresAt] };
  const staleAt = (seen.price?.updatedAt ?? 0n) + BigInt(MAX_PRICE_AGE);
  return { issues: [], steps: [observationStep(policy, what)], endsAt: [expiresAt, staleAt] };
}

/**
 * Plans the next observation of a policy, which any wallet may send; the third pays it.
 * @throws ApiError `policy_not_found`
 */
export async function planTrigger(context: PlanContext, key: PolicyKey): Promise<Plan> {
  const policy = await readPolicy(context.reads, context, key, context.block.number);
  if (!policy) {
    throw new ApiError("policy_not_found", `The product ${key.productId} has no policy ${key.policyId}.`);
  }
  const what = `policy ${key.policyId} of ${entryById(key.productId)?.name ?? key.productId}`;
  const summary = `Observes the price for ${what}: the third observation pays its buyer ${getAddress(policy.buyer)} bonds of ${usdcText(policy.payout)}.`;
  const closed = closedIssue(context, policy);
  if (closed) return { summary, issues: [closed], steps: [], endsAt: [] };
  return { summary, ...(await planObservation(context, policy, what)) };
}

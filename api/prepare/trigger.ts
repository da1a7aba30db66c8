import { getAddress } from "viem";
import { shieldKeeperAbi } from "../../abis/ShieldKeeper.ts";
import { upkeepCalldata, upkeepGas } from "../../lib/chain/trigger.ts";
import { ApiError } from "../../lib/errors.ts";
import { policyStatus } from "../../lib/indexed/policy-status.ts";
import { DWELL, MAX_PRICE_AGE, OBSERVATION_INTERVAL } from "../../lib/price-rules.ts";
import { entryById } from "../../lib/products.ts";
import {
  type ObservedPrice,
  readObservedPrice,
  readOpenKeeper,
  refusalOf,
} from "../chain/contracts/observation.ts";
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
  if (triggerPrice !== null && price !== null && price.price > triggerPrice)
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

/** What the contracts say of an open policy, and the step where they would observe it. */
async function planObservation(
  context: PlanContext,
  policy: ChainPolicy,
  what: string,
): Promise<Pick<Plan, "issues" | "steps" | "endsAt">> {
  const { reads, contracts, block } = context;
  const { shield: adapter, policyId, expiresAt } = policy;
  const [seen, keeper] = await Promise.all([
    readObservedPrice(reads, { adapter, policyId }, block.number),
    readOpenKeeper(reads, contracts, adapter, block.number),
  ]);
  const issue = priceIssue(context, policy, seen);
  if (keeper === undefined || issue)
    return {
      issues: issuesOf(keeper ? undefined : closedKeeperIssue, issue),
      steps: [],
      endsAt: [expiresAt],
    };
  const refusal = await refusalOf(reads, { adapter, keeper, policyId }, block.number);
  const endsAt = [expiresAt, (seen.price?.updatedAt ?? 0n) + BigInt(MAX_PRICE_AGE)];
  return refusal === undefined
    ? { issues: [], steps: [observationStep(policy, what)], endsAt }
    : { issues: [unsettledIssue(refusal)], steps: [], endsAt: [expiresAt] };
}

/**
 * Plans the next observation of a policy, which any wallet may send; the third pays it.
 * @throws ApiError `policy_not_found`
 */
export async function planTrigger(context: PlanContext, key: PolicyKey): Promise<Plan> {
  const { reads, contracts, block } = context;
  const [policy, sequencerActive] = await Promise.all([
    readPolicy(reads, context, key, block.number),
    readSequencerActive(reads, contracts, block.number),
  ]);
  if (!policy) {
    throw new ApiError("policy_not_found", `The product ${key.productId} has no policy ${key.policyId}.`);
  }
  const what = `policy ${key.policyId} of ${entryById(key.productId)?.name ?? key.productId}`;
  const closed = closedIssue(context, policy);
  if (closed || !sequencerActive) {
    const issues = issuesOf(sequencerActive ? undefined : sequencerIssue, closed);
    return { summary: summaryOf(policy, what), issues, steps: [], endsAt: [] };
  }
  return { summary: summaryOf(policy, what), ...(await planObservation(context, policy, what)) };
}

const summaryOf = ({ buyer, payout }: ChainPolicy, what: string): string =>
  `Observes the price for ${what}: the third observation pays its buyer ${getAddress(buyer)} bonds of ${usdcText(payout)}.`;

import { type Address, getAddress } from "viem";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { triggerCalldata } from "../../lib/chain/trigger.ts";
import { ApiError } from "../../lib/errors.ts";
import type { IndexedRounds } from "../../lib/indexed/due.ts";
import { policyStatus } from "../../lib/indexed/policy-status.ts";
import { CONFIRMATIONS, MAX_PRICE_AGE } from "../../lib/price-rules.ts";
import { entryById } from "../../lib/products.ts";
import { type ChainPolicy, type PolicyKey, readPolicy } from "../chain/contracts/policy.ts";
import { type Round, readShieldFeed } from "../chain/contracts/rounds.ts";
import { readSequencerActive } from "../chain/contracts/selling.ts";
import { usdcText } from "./amount-text.ts";
import type { Issue } from "./issue-schemas.ts";
import {
  expiredIssue,
  finalizedIssue,
  freshPriceIssue,
  notTriggeredIssue,
  sequencerIssue,
  unknownRoundsIssue,
} from "./issues.ts";
import { issuesOf, type Plan, type PlanContext } from "./plan.ts";
import { actionStep, type Step } from "./steps.ts";
import { type FoundRounds, findRounds, type TriggerWindow } from "./trigger-rounds.ts";

/** The round with the latest time. */
const latestOf = (rounds: readonly Round[]): Round | undefined =>
  [...rounds].sort((a, b) => Number(b.updatedAt - a.updatedAt))[0];

/** Why an open policy's rounds prove nothing at the block's time; undefined when they prove its trigger. */
function roundsIssue(
  { block }: PlanContext,
  feed: Address,
  window: TriggerWindow,
  { fallen, complete, newest }: FoundRounds,
): Issue | undefined {
  if (fallen.length === CONFIRMATIONS) {
    return freshPriceIssue(feed, latestOf(fallen) ?? null, block);
  }
  const { triggerPrice, coverFrom } = window;
  return complete
    ? notTriggeredIssue({ price: newest?.price ?? null, triggerPrice, coverFrom, rounds: fallen.length })
    : unknownRoundsIssue;
}

/** The step with its proof, from three rounds by rising id. */
function triggerStep({ productId, policyId }: PolicyKey, rounds: readonly bigint[], what: string): Step {
  return actionStep({
    id: "trigger",
    description: `Triggers ${what} with the rounds ${rounds.join(", ")} of its price feed.`,
    contract: "coverRouter",
    abi: coverRouterAbi,
    data: triggerCalldata({ productId, policyId }, rounds),
  });
}

/** What the feed says of a policy that is open, and the step once three rounds count. */
async function planRounds(
  context: PlanContext,
  { policy, what }: { policy: ChainPolicy; what: string },
  indexed: IndexedRounds | undefined,
): Promise<Pick<Plan, "issues" | "steps" | "endsAt">> {
  const { triggerPrice, createdAt, expiresAt } = policy;
  if (triggerPrice === null) return { issues: [unknownRoundsIssue], steps: [], endsAt: [] };
  const feed = await readShieldFeed(context.reads, policy.shield, context.block.number);
  const window = { coverFrom: createdAt, expiresAt, triggerPrice };
  const found = await findRounds(context, feed, window, indexed);
  const { fallen } = found;
  const issues = issuesOf(roundsIssue(context, feed, window, found));
  const latest = latestOf(fallen);
  if (fallen.length < CONFIRMATIONS || !latest) return { issues, steps: [], endsAt: [expiresAt] };
  const ids = fallen.map(({ roundId }) => roundId);
  return {
    issues,
    steps: [triggerStep(policy, ids, what)],
    endsAt: [expiresAt, latest.updatedAt + BigInt(MAX_PRICE_AGE)],
  };
}

/** Why a policy is no longer open at the block's time; undefined for an open one. */
function closedIssue({ block }: PlanContext, policy: ChainPolicy): Issue | undefined {
  const status = policyStatus(policy, block.timestamp);
  if (status === "Triggered") return finalizedIssue;
  return status === "Expired" ? expiredIssue(policy.expiresAt) : undefined;
}

/**
 * Plans a trigger, which any wallet may send; `indexed` has what the index knows of the policy's rounds.
 * @throws ApiError `policy_not_found`
 */
export async function planTrigger(
  context: PlanContext,
  key: PolicyKey,
  indexed: IndexedRounds | undefined,
): Promise<Plan> {
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
  const proof = closed
    ? { issues: [closed], steps: [], endsAt: [] }
    : await planRounds(context, { policy, what }, indexed);
  return {
    ...proof,
    summary: `Triggers ${what}: its buyer ${getAddress(policy.buyer)} receives bonds of ${usdcText(policy.payout)}.`,
    issues: issuesOf(sequencerActive ? undefined : sequencerIssue, ...proof.issues),
  };
}

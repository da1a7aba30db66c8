export const policyStatuses = ["Waiting", "Active", "Triggered", "Expired", "Cancelled"] as const;
export type PolicyStatus = (typeof policyStatuses)[number];

/** What decides a policy's status; times are Unix seconds. */
export type PolicyTimes = {
  triggered: boolean;
  cancelled: boolean;
  /** Null when the product has no waiting period. */
  waitingEndsAt: bigint | null;
  expiresAt: bigint;
};

/**
 * A policy's status at the time `now` (Unix seconds, of a block). Cover still runs in the very second of `expiresAt`,
 * as in the contracts.
 */
export function policyStatus(policy: PolicyTimes, now: bigint): PolicyStatus {
  if (policy.triggered) return "Triggered";
  if (policy.cancelled) return "Cancelled";
  if (policy.waitingEndsAt !== null && now < policy.waitingEndsAt) return "Waiting";
  return now > policy.expiresAt ? "Expired" : "Active";
}

export const policyStatuses = ["Waiting", "Active", "Triggered", "Expired", "Cancelled"] as const;
export type PolicyStatus = (typeof policyStatuses)[number];

/** The fields that determine a policy's status; times are Unix seconds. */
export type PolicyTimes = {
  triggered: boolean;
  cancelled: boolean;
  /** Null when the product has no waiting period. */
  waitingEndsAt: bigint | null;
  expiresAt: bigint;
  /** Whether its key has come again: nobody can trigger it any more. */
  replaced?: boolean | undefined;
};

/**
 * A policy's status at the block time `now` (Unix seconds). As in the contracts, cover includes the second of
 * `expiresAt`.
 */
export function policyStatus(policy: PolicyTimes, now: bigint): PolicyStatus {
  if (policy.triggered) return "Triggered";
  if (policy.cancelled) return "Cancelled";
  if (policy.replaced) return "Expired";
  if (policy.waitingEndsAt !== null && now < policy.waitingEndsAt) return "Waiting";
  return now > policy.expiresAt ? "Expired" : "Active";
}

/** A policy's status at a block's time: decided by `policyStatus`, and in queries by `hasStatus` in the same way. */
import { type SQL, type SQLWrapper, sql } from "drizzle-orm";

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
  if (policy.replaced || now > policy.expiresAt) return "Expired";
  return policy.waitingEndsAt !== null && now < policy.waitingEndsAt ? "Waiting" : "Active";
}

/** The columns that determine the status of a row of `policy`. */
type StatusColumns = Readonly<
  Record<"triggeredAt" | "cancelledAt" | "waitingEndsAt" | "expiresAt", SQLWrapper>
>;

const timeOf = (now: bigint | SQL): SQL => (typeof now === "bigint" ? sql`${String(now)}::numeric` : now);

/** Neither triggered nor cancelled. */
const isUntouched = ({ triggeredAt, cancelledAt }: Omit<StatusColumns, "waitingEndsAt" | "expiresAt">): SQL =>
  sql`${triggeredAt} is null and ${cancelledAt} is null`;

/** Waiting or active at `now`. Reads an index on the expiry. Unknown (null) for an untouched policy without a known expiry. */
export const isOpen = (row: StatusColumns, now: bigint | SQL): SQL =>
  sql`${row.expiresAt} >= ${timeOf(now)} and ${isUntouched(row)}`;

/** Of an open policy: whether its waiting period has not ended at `now`. */
export const isWaiting = ({ waitingEndsAt }: Pick<StatusColumns, "waitingEndsAt">, now: bigint | SQL): SQL =>
  sql`coalesce(${waitingEndsAt} > ${timeOf(now)}, false)`;

/**
 * Whether a row has this status at `now`. Without a known expiry an untouched policy has none.
 * @param replaced the row is of `replaced_policy`
 */
export function hasStatus(
  row: StatusColumns,
  status: PolicyStatus,
  now: bigint | SQL,
  { replaced = false }: { replaced?: boolean } = {},
): SQL {
  const isOpenRow = replaced ? sql`false` : isOpen(row, now);
  return {
    Triggered: sql`${row.triggeredAt} is not null`,
    Cancelled: sql`${row.cancelledAt} is not null and ${row.triggeredAt} is null`,
    Waiting: sql`${isOpenRow} and ${isWaiting(row, now)}`,
    Active: sql`${isOpenRow} and not ${isWaiting(row, now)}`,
    Expired: replaced ? isUntouched(row) : sql`${isUntouched(row)} and ${row.expiresAt} < ${timeOf(now)}`,
  }[status];
}

/** A policy's status at a block's time: decided by `policyStatus`, and in queries by `hasStatus` in the same way. */
import { type SQL, type SQLWrapper, sql } from "drizzle-orm";

/** Release V5.4 has neither waiting periods nor cancellations: `Waiting` and `Cancelled` stay in the API and never occur. */
export const policyStatuses = ["Waiting", "Active", "Triggered", "Expired", "Cancelled"] as const;
export type PolicyStatus = (typeof policyStatuses)[number];

/** The fields that determine a policy's status; times are Unix seconds. */
export type PolicyTimes = {
  triggered: boolean;
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
  return policy.replaced || now > policy.expiresAt ? "Expired" : "Active";
}

/** The columns that determine the status of a row of `policy`. */
type StatusColumns = Readonly<Record<"triggeredAt" | "expiresAt", SQLWrapper>>;

const timeOf = (now: bigint | SQL): SQL => (typeof now === "bigint" ? sql`${String(now)}::numeric` : now);

/** Active at `now`. Reads an index on the expiry. Unknown (null) for an untriggered policy without a known expiry. */
export const isOpen = (row: StatusColumns, now: bigint | SQL): SQL =>
  sql`${row.expiresAt} >= ${timeOf(now)} and ${row.triggeredAt} is null`;

/**
 * Whether a row has this status at `now`. Without a known expiry an untriggered policy has none.
 * @param replaced the row is of `replaced_policy`
 */
export function hasStatus(
  row: StatusColumns,
  status: PolicyStatus,
  now: bigint | SQL,
  { replaced = false }: { replaced?: boolean } = {},
): SQL {
  const untriggered = sql`${row.triggeredAt} is null`;
  return {
    Triggered: sql`${row.triggeredAt} is not null`,
    Cancelled: sql`false`,
    Waiting: sql`false`,
    Active: replaced ? sql`false` : isOpen(row, now),
    Expired: replaced ? untriggered : sql`${untriggered} and ${row.expiresAt} < ${timeOf(now)}`,
  }[status];
}

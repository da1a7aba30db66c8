/** Events of policies that a log causes. An expiry has no log: see `expired-policies.ts`. */
import { eq, getTableColumns } from "drizzle-orm";
import { getAddress } from "viem";
import { policy, policyTrigger, product } from "../../../ponder.schema.ts";
import { addressOrNull, decimalOrNull, type Source, source } from "./source.ts";

const productName = product.name;

export const policySources: readonly Source[] = [
  source({
    type: "policy_purchased",
    table: policy,
    rows: (db, where) =>
      db
        .select({ ...getTableColumns(policy), productName })
        .from(policy)
        .leftJoin(product, eq(product.productId, policy.productId))
        .where(where),
    parties: ({ buyer, paidBy }) => [buyer, paidBy],
    data: (row) => ({
      productId: row.productId,
      productName: row.productName,
      policyId: String(row.policyId),
      buyer: getAddress(row.buyer),
      // The buyer receives the payout's bond, also when another wallet paid.
      holder: getAddress(row.buyer),
      paidBy: addressOrNull(row.paidBy),
      shield: addressOrNull(row.shield),
      coverageAmount: String(row.coverage),
      payoutAmount: String(row.payout),
      premiumPaid: String(row.premium),
      priceSnapshot: String(row.priceSnapshot),
      purchasedAt: String(row.createdAt),
      waitingEndsAt: null,
      expiresAt: decimalOrNull(row.expiresAt),
    }),
  }),
  source({
    type: "policy_triggered",
    table: policyTrigger,
    rows: (db, where) =>
      db
        .select({ ...getTableColumns(policyTrigger), productName })
        .from(policyTrigger)
        .leftJoin(product, eq(product.productId, policyTrigger.productId))
        .where(where),
    parties: ({ buyer }) => [buyer],
    data: (row) => ({
      productId: row.productId,
      productName: row.productName,
      policyId: String(row.policyId),
      buyer: getAddress(row.buyer),
      bondId: decimalOrNull(row.bondEpochId),
      bondAmount: String(row.bondAmount),
      reason: row.reason,
      triggeredAt: String(row.blockTimestamp),
    }),
  }),
];

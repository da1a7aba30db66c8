/** Events of bonds. A bond's id is its epoch. */
import { getAddress } from "viem";
import { bondIssue, bondRedemption, redemptionQueue } from "../../../ponder.schema.ts";
import { decimalOrNull, type Source, source } from "./source.ts";

export const bondSources: readonly Source[] = [
  source({
    type: "bond_minted",
    table: bondIssue,
    rows: (db, where) => db.select().from(bondIssue).where(where),
    parties: ({ holder }) => [holder],
    data: (row) => ({
      bondId: String(row.epochId),
      holder: getAddress(row.holder),
      amount: String(row.usdAmount),
      productId: row.productId,
      policyId: decimalOrNull(row.policyId),
    }),
  }),
  source({
    type: "bond_queued",
    table: redemptionQueue,
    rows: (db, where) => db.select().from(redemptionQueue).where(where),
    parties: ({ holder }) => [holder],
    data: (row) => ({
      bondId: String(row.epochId),
      holder: getAddress(row.holder),
      amount: String(row.usdAmount),
      queueId: String(row.queueId),
      targetEpoch: String(row.targetEpoch),
    }),
  }),
  source({
    type: "bond_redeemed",
    table: bondRedemption,
    rows: (db, where) => db.select().from(bondRedemption).where(where),
    parties: ({ holder }) => [holder],
    data: (row) => ({
      bondId: String(row.epochId),
      holder: getAddress(row.holder),
      amount: String(row.usdAmount),
      tokenAmount: String(row.tokenAmount),
      priceUsed: String(row.priceUsed),
      queueId: decimalOrNull(row.queueId),
    }),
  }),
];

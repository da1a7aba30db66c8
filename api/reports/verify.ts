/**
 * What the chain shows of a report, now. There is no background process: a record is compared with the chain each time that it
 * is read, until its block is final, and a pending report is judged each time that it is read.
 */
import type { Sql } from "postgres";
import type { Contracts } from "../../lib/deployments.ts";
import { ApiError } from "../../lib/errors.ts";
import { fromDatabase } from "../http/dependency-timeout.ts";
import { judge, rejectRevert } from "./judge.ts";
import type { Rejection, Report, ReportRecord } from "./report.ts";
import {
  findReport,
  isRecorded,
  markFinal,
  removeRecord,
  type StoredReport,
  storePending,
  storeRecord,
} from "./store.ts";
import { blockStatus, findTransaction, type ReportNode } from "./transaction.ts";

export type ReportContext = {
  readonly sql: Sql;
  readonly node: ReportNode;
  readonly chainId: number;
  /** @throws ApiError `health_contracts_incomplete` */
  readonly contracts: () => Contracts;
  /** The newest indexed block; undefined when there is no index to read. */
  readonly indexedBlock: () => Promise<bigint | undefined>;
};

type Judgement =
  | { readonly state: "recorded"; readonly record: ReportRecord }
  | { readonly state: "pending" | "unknown" }
  | { readonly state: "rejected"; readonly rejection: Rejection };

async function judgeNow(context: ReportContext, report: Report): Promise<Judgement> {
  const contracts = context.contracts();
  const found = await findTransaction(context.node, report.txHash, context.indexedBlock);
  if (found.state === "reverted") return { state: "rejected", rejection: rejectRevert(found.reason) };
  if (found.state !== "succeeded") return { state: found.state };
  const { block, logs } = found;
  const outcome = judge(report, contracts, logs);
  if ("code" in outcome) return { state: "rejected", rejection: outcome };
  return { state: "recorded", record: { event: outcome, block } };
}

/** Whether the chain still has the record's block, which is noted once it is final. */
async function stands({ node, sql }: ReportContext, { id, record, final }: StoredReport): Promise<boolean> {
  if (record === null) return false;
  if (final) return true;
  const status = await blockStatus(node, record.block);
  if (status === "final") await fromDatabase(() => markFinal(sql, id, record.block.hash));
  return status !== "replaced";
}

const duplicates = {
  redeem: "duplicate_redemption",
  list: "duplicate_listing",
  buy: "duplicate_purchase",
} as const;

/** The error of a rejected report: 409 where the transaction has the event and its record is of a different report. */
async function rejectionError(
  { sql, chainId }: ReportContext,
  report: Report,
  { code, message }: Rejection,
): Promise<ApiError> {
  const hasEvent = code !== "tx_reverted" && code !== "event_missing";
  if (!hasEvent || !(await fromDatabase(() => isRecorded(sql, chainId, report))))
    return new ApiError(code, message);
  return new ApiError(
    duplicates[report.kind],
    `The transaction was recorded for another wallet or with other content. ${message}`,
  );
}

/** Judges a report by the chain as it is now, and stores what came of it. */
async function judgeAndStore(
  context: ReportContext,
  report: Report,
  stored: StoredReport | undefined,
): Promise<StoredReport> {
  const { sql, chainId } = context;
  const judgement = await judgeNow(context, report);
  if (judgement.state === "recorded")
    return fromDatabase(() => storeRecord(sql, chainId, report, judgement.record));
  const lost = stored?.record;
  if (lost) await fromDatabase(() => removeRecord(sql, stored.id, lost.block.hash));
  switch (judgement.state) {
    case "pending":
      return fromDatabase(() => storePending(sql, chainId, report));
    case "unknown":
      throw new ApiError("tx_not_found", `The chain's node knows no transaction ${report.txHash}.`);
    case "rejected":
      throw await rejectionError(context, report, judgement.rejection);
  }
}

/**
 * Judges a stored report again, unless the chain still has its record's block.
 * @throws ApiError a code of {@link Rejection}, `duplicate_…`, `tx_not_found`, `rpc_error`, `chain_not_found`
 */
export const verifyStored = async (context: ReportContext, stored: StoredReport): Promise<StoredReport> =>
  (await stands(context, stored)) ? stored : judgeAndStore(context, stored.report, stored);

/** Judges a report, and stores it unless that fails. The same report again is judged as a stored one. @throws as {@link verifyStored} */
export async function verifyReport(context: ReportContext, report: Report): Promise<StoredReport> {
  const stored = await fromDatabase(() => findReport(context.sql, context.chainId, report));
  return stored ? verifyStored(context, stored) : judgeAndStore(context, report, undefined);
}

import { createRoute, z } from "@hono/zod-openapi";
import type { Sql } from "postgres";
import {
  type Absence,
  absences,
  auditCounts,
  type FailedTask,
  failedTasks,
  SET_ASIDE_AFTER,
  type TaskPosition,
} from "../../lib/ledger/keeper-tasks.ts";
import { keeperPurposes } from "../../lib/ledger/kinds.ts";
import { type RoleWallet, roleWallet } from "../../lib/ledger/relayers.ts";
import {
  Address,
  DecimalString,
  isoTime,
  nullableBytes32,
  nullableTimestamp,
  Timestamp,
} from "../http/field-types.ts";
import { cursorField, cursorText, cutPage, limitInput } from "../http/paging.ts";
import { count, operatorResponses, operatorRoute, pageLimit } from "./responses.ts";

/** The most absences in an answer. */
const MAX_ABSENCES = 50;

const KeeperWallet = z
  .object({
    address: Address,
    running: z.boolean().openapi({ description: "Whether a writer sends from it.", example: true }),
    stopped: z.boolean().openapi({ description: "Whether the operator has stopped it.", example: false }),
    pausedBecause: z.string().nullable().openapi({
      description: "Why its writer cannot send now; null when it can.",
      example: null,
    }),
  })
  .openapi("KeeperWallet");

const FailedWork = z
  .object({
    purpose: z.enum(keeperPurposes).openapi({
      description: "`trigger` a policy, mark it as expired, or pay the redemption `queue`.",
      example: "trigger",
    }),
    productId: nullableBytes32(
      "Null for the redemption queue.",
      "0xe87625ef7415a58c92f2639b16d176521429aac002386dddf1e47e419dfeaddd",
    ),
    policyId: DecimalString.openapi({
      description: "Of the redemption queue: the entry's id.",
      example: "17",
    }),
    failures: z.int().openapi({ description: "Failures in a row.", example: 5 }),
    setAside: z.boolean().openapi({
      description: `Whether it has failed ${SET_ASIDE_AFTER} times or more: it needs the operator, and is still tried.`,
      example: true,
    }),
    reason: z.string().openapi({ description: "Why it failed last.", example: "RECEIVER_REFUSES_BONDS" }),
    retryAt: Timestamp.openapi({ description: "When it is tried again." }),
  })
  .openapi("FailedKeeperWork");

const Audit = z
  .object({
    auditedTo: DecimalString.openapi({ description: "The newest audited block.", example: "1234" }),
    missed: DecimalString.openapi({
      description: "Policies that could have been triggered in some block and were not.",
      example: "0",
    }),
    missedWhileDown: DecimalString.openapi({
      description: "Those that could be paid only while no keeper was at work.",
      example: "0",
    }),
    refused: DecimalString.openapi({
      description: "Those that the audit takes for payable, and the contracts do not.",
      example: "0",
    }),
    neverPayable: z.record(z.string(), z.int()).openapi({
      description: "Those that met the price and that no block could have paid, by reason.",
      example: { sequencer_down: 1 },
    }),
  })
  .openapi("KeeperAudit");

const OperatorKeeper = z
  .object({
    asOf: Timestamp,
    wallet: KeeperWallet.nullable().openapi({
      description: "Null where no writer was a keeper within the last hour.",
    }),
    audit: Audit.nullable().openapi({
      description: "The running audit since its first start; null before it.",
    }),
    absences: z
      .array(
        z.object({
          from: Timestamp,
          to: nullableTimestamp("Null while no keeper is at work."),
        }),
      )
      .openapi({
        description: `Times of blocks in which no keeper was at work, the newest ${MAX_ABSENCES}.`,
      }),
    count,
    limit: pageLimit,
    nextCursor: cursorField,
    failedWork: z.array(FailedWork).openapi({
      description: "Work that has failed and is not under way again, the most failures first.",
    }),
  })
  .openapi("OperatorKeeper");

const taskCursor = cursorText(
  /^\d{1,9}-(trigger|expire|queue)-(0x[0-9a-f]{64})?-\d{1,78}$/,
  `5-trigger-0x${"ab".repeat(32)}-17`,
)
  .transform((text): TaskPosition => {
    const [failures = "", name = "", productId = "", policyId = ""] = text.split("-");
    const purpose = keeperPurposes.find((known) => known === name) ?? "trigger";
    return { failures: Number(failures), purpose, productId, policyId };
  })
  .optional();

export const getKeeperRoute = createRoute({
  ...operatorRoute,
  method: "get",
  path: "/api/v1/admin/keeper",
  operationId: "getKeeper",
  summary: "Show the keeper",
  description:
    "Its wallet, what it could not do, when none was at work, and what the running audit has counted.",
  request: { query: z.object({ limit: limitInput(), cursor: taskCursor }) },
  responses: operatorResponses("The keeper now.", OperatorKeeper, "validation_error"),
});

const walletBody = ({ address, alive, stopped, fault }: RoleWallet) => ({
  address,
  running: alive,
  stopped,
  pausedBecause: fault,
});

const absenceBody = ({ from, to }: Absence) => ({
  from: isoTime(BigInt(from)),
  to: to === null ? null : isoTime(BigInt(to)),
});

const failedBody = ({ productId, failure, retryAt, ...task }: FailedTask) => ({
  ...task,
  productId: productId === "" ? null : productId,
  setAside: task.failures >= SET_ASIDE_AFTER,
  reason: failure,
  retryAt: retryAt.toISOString(),
});

/** What the operator sees of a chain's keeper, with a page of the work that has failed. */
export async function readKeeper(
  sql: Sql,
  chainId: number,
  { limit, cursor }: { limit: number; cursor?: TaskPosition | undefined },
): Promise<z.infer<typeof OperatorKeeper>> {
  const [wallet, audit, away, failed] = await Promise.all([
    roleWallet(sql, chainId, "keeper"),
    auditCounts(sql, chainId),
    absences(sql, chainId, MAX_ABSENCES),
    failedTasks(sql, chainId, { limit: limit + 1, after: cursor }),
  ]);
  const page = cutPage(
    failed,
    limit,
    ({ failures, purpose, productId, policyId }) => `${failures}-${purpose}-${productId}-${policyId}`,
  );
  return {
    asOf: new Date().toISOString(),
    wallet: wallet ? walletBody(wallet) : null,
    audit: audit ?? null,
    absences: away.map(absenceBody),
    count: page.rows.length,
    limit,
    nextCursor: page.next,
    failedWork: page.rows.map(failedBody),
  };
}

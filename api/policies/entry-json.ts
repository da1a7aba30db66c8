/** A policy in a list, as Postgres writes it: the same text as `policyBody` of `api/chain/` and its position make. */
import { type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { getAddress } from "viem";
import { FEED_TO_PRICE } from "../../lib/price-rules.ts";
import { head } from "../../ponder.schema.ts";
import { BASIS_POINTS, CLAIM_CALL } from "../chain/policy-body.ts";
import type { PolicyBody } from "../chain/policy-schemas.ts";
import type { PolicyStatus } from "../chain/policy-status.ts";
import {
  boolean,
  constant,
  type JsonField,
  jsonObject,
  jsonOrNull,
  numberOrNull,
  plainText,
  plainTextOrNull,
  textOrNull,
} from "../indexed/json-text.ts";

/** The columns of a policy's row, with its product and the newest round of its asset's feed. */
type PolicyColumns = Readonly<
  Record<
    | "productId"
    | "policyId"
    | "shield"
    | "coverage"
    | "payout"
    | "premium"
    | "priceSnapshot"
    | "createdAt"
    | "waitingEndsAt"
    | "expiresAt"
    | "triggeredAt"
    | "cancelledAt"
    | "bondEpochId"
    | "strike"
    | "triggerPrice"
    | "answer"
    | "answeredAt"
    | "due"
    | "txHash"
    | "blockNumber"
    | "logIndex"
    | "productName"
    | "productActive"
    | "productPaused",
    SQLWrapper
  >
>;

type Entry = PolicyBody & { txHash: string; blockNumber: string; logIndex: number };

/** Whether the row has everything that an entry shows: the index may not know a product from before its first block. */
export const isCompleteRow = (row: PolicyColumns): SQL =>
  sql`${row.shield} is not null and ${row.expiresAt} is not null and ${row.productName} is not null`;

/** The conditions of a policy's status at the head's block, as in `policyStatus`; the first that is true counts. */
function conditionsOf(row: PolicyColumns) {
  const closed = sql`(${row.triggeredAt} is not null or ${row.cancelledAt} is not null)`;
  const waits = sql`${head.timestamp} < ${row.waitingEndsAt}`;
  const ended = sql`${head.timestamp} > ${row.expiresAt}`;
  return {
    waits,
    expired: sql`not ${closed} and (${waits}) is not true and ${ended}`,
    open: sql`not ${closed} and ((${waits}) is true or not ${ended})`,
  };
}

const name = (status: PolicyStatus): SQL => sql.raw(`'${status}'`);

/** How far the price has to fall to the trigger, as in `distanceBps`. */
function distance(current: SQL, trigger: SQLWrapper): SQL {
  const scaled = sql`(${current} - ${trigger}) * ${sql.raw(String(BASIS_POINTS))}`;
  return sql`div(case when ${current} > ${trigger} then ${scaled} + ${current} - 1 else ${scaled} end, ${current})`;
}

/** JSON text of a complete row of `buyer`, an address as answers show it; for the shield see {@link writeChecksums}. */
export function policyEntry(row: PolicyColumns, buyer: SQLWrapper): SQL<string> {
  const { waits, expired, open } = conditionsOf(row);
  const status = sql`case when ${row.triggeredAt} is not null then ${name("Triggered")}
    when ${row.cancelledAt} is not null then ${name("Cancelled")} when ${waits} then ${name("Waiting")}
    when ${expired} then ${name("Expired")} else ${name("Active")} end`;
  const known = sql`${row.answer} > 0 and ${row.answeredAt} is not null`;
  const current = sql`(${row.answer} * ${sql.raw(String(FEED_TO_PRICE))})`;
  const due = sql`${open} and ${row.due}`;
  const claim = jsonObject({
    method: constant(CLAIM_CALL.method),
    path: constant(CLAIM_CALL.path),
    body: [jsonObject({ productId: plainText(row.productId), policyId: plainText(row.policyId) })],
  });
  const fields: Readonly<Record<keyof Entry, JsonField>> = {
    productId: plainText(row.productId),
    policyId: plainText(row.policyId),
    shield: plainText(row.shield),
    buyer: plainText(buyer),
    holder: plainText(buyer),
    coverageAmount: plainText(row.coverage),
    payoutAmount: plainText(row.payout),
    premiumPaid: plainText(row.premium),
    createdAt: plainText(row.createdAt),
    expiresAt: plainText(row.expiresAt),
    status: plainText(status),
    triggered: boolean(sql`${row.triggeredAt} is not null`),
    expired: boolean(expired),
    productName: textOrNull(row.productName),
    purchasedAt: plainText(row.createdAt),
    waitingEndsAt: plainTextOrNull(row.waitingEndsAt),
    productActive: boolean(sql`${row.productActive} and not ${row.productPaused}`),
    priceSnapshot: plainText(row.priceSnapshot),
    triggeredAt: plainTextOrNull(row.triggeredAt),
    bondId: plainTextOrNull(row.bondEpochId),
    strikePrice: plainTextOrNull(row.strike),
    triggerPrice: plainTextOrNull(row.triggerPrice),
    currentPrice: plainTextOrNull(sql`case when ${known} then ${current} end`),
    currentPriceAt: plainTextOrNull(sql`case when ${known} then ${row.answeredAt} end`),
    distanceToTriggerBps: numberOrNull(
      sql`case when ${open} and ${known} then ${distance(current, row.triggerPrice)} end`,
    ),
    due: boolean(due),
    claim: jsonOrNull(sql`case when ${due} then ${claim} end`),
    source: constant("index"),
    asOfBlock: plainText(sql`${head.number}`),
    txHash: plainText(row.txHash),
    blockNumber: plainText(row.blockNumber),
    logIndex: numberOrNull(row.logIndex),
  };
  return jsonObject(fields);
}

const SHIELD = '"shield":"';
const ADDRESS_LENGTH = 42;

/** Replaces the shields of entries within this JSON by their checksums, which Postgres cannot compute. Quotes within names are escaped. */
export function writeChecksums(json: Buffer): void {
  const known = new Map<string, string>();
  for (let at = json.indexOf(SHIELD); at !== -1; at = json.indexOf(SHIELD, at)) {
    at += SHIELD.length;
    const shield = json.toString("latin1", at, at + ADDRESS_LENGTH);
    const checksum = known.get(shield) ?? getAddress(shield);
    known.set(shield, checksum);
    json.write(checksum, at, "latin1");
  }
}

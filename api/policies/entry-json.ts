/** A policy in a list, as Postgres writes it: the same text as `policyBody` of `api/chain/` and its position make. */
import { type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { type Address, getAddress } from "viem";
import { FEED_TO_PRICE } from "../../lib/price-rules.ts";
import { BASIS_POINTS, CLAIM_CALL } from "../chain/policy-body.ts";
import type { PolicyBody } from "../chain/policy-schemas.ts";
import type { PolicyStatus } from "../chain/policy-status.ts";
import {
  boolean,
  constant,
  inFieldBefore,
  type JsonField,
  jsonObject,
  numberOrNull,
  plainText,
  plainTextOrNull,
  textOrNull,
} from "../indexed/json-text.ts";

/**
 * The columns of a policy's row, with its product, the newest round of its asset's feed with its text ({@link pricesText}), and the
 * head's number and time.
 */
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
    | "prices"
    | "due"
    | "txHash"
    | "blockNumber"
    | "logIndex"
    | "productName"
    | "productActive"
    | "productPaused"
    | "headNumber"
    | "headTime",
    SQLWrapper
  >
>;

const PRICE_SCALE = sql.raw(String(FEED_TO_PRICE));

type Entry = PolicyBody & { txHash: string; blockNumber: string; logIndex: number };

/** Whether the row has everything that an entry shows: the index may not know a product from before its first block. */
export const isCompleteRow = (row: PolicyColumns): SQL =>
  sql`${row.shield} is not null and ${row.expiresAt} is not null and ${row.productName} is not null`;

/** The text of `status`, `triggered` and `expired`. */
const statusText = (status: PolicyStatus): SQL =>
  sql.raw(`'"${status}","triggered":${status === "Triggered"},"expired":${status === "Expired"}'`);

/** The text of `buyer` and `holder`. */
export const buyerText = (buyer: Address): string => `"${buyer}","holder":"${buyer}"`;

/** What an entry shows of the newest round of a feed: `currentPrice` and `currentPriceAt`; null when there is no price. */
export const pricesText = ({ answer, answeredAt }: Pick<PolicyColumns, "answer" | "answeredAt">): SQL =>
  sql`case when ${answer} > 0 then '"' || ${answer} * ${PRICE_SCALE} || '","currentPriceAt":"' || ${answeredAt} || '"' end`;
const noPricesText = sql.raw(`'null,"currentPriceAt":null'`);

/** How far the price has to fall to the trigger, as in `distanceBps`. */
function distance(current: SQL, trigger: SQLWrapper): SQL {
  const scaled = sql`(${current} - ${trigger}) * ${sql.raw(String(BASIS_POINTS))}`;
  return sql`div(case when ${current} > ${trigger} then ${scaled} + ${current} - 1 else ${scaled} end, ${current})`;
}

/** JSON text of a complete row of a buyer ({@link buyerText}); for the shield see {@link writeChecksums}. */
export function policyEntry(row: PolicyColumns, buyer: SQLWrapper): SQL<string> {
  const closed = sql`(${row.triggeredAt} is not null or ${row.cancelledAt} is not null)`;
  const waits = sql`${row.headTime} < ${row.waitingEndsAt}`;
  const ended = sql`${row.headTime} > ${row.expiresAt}`;
  // As in `policyStatus`; the first that is true counts.
  const status = sql`case when ${row.triggeredAt} is not null then ${statusText("Triggered")}
    when ${row.cancelledAt} is not null then ${statusText("Cancelled")} when ${waits} then ${statusText("Waiting")}
    when ${ended} then ${statusText("Expired")} else ${statusText("Active")} end`;
  const open = sql`not ${closed} and ((${waits}) is true or not ${ended})`;
  const known = sql`${row.prices} is not null`;
  const current = sql`(${row.answer} * ${PRICE_SCALE})`;
  const claim = jsonObject({
    method: constant(CLAIM_CALL.method),
    path: constant(CLAIM_CALL.path),
    body: [jsonObject({ productId: plainText(row.productId), policyId: plainText(row.policyId) })],
  });
  const fields: Readonly<Record<keyof Entry, JsonField>> = {
    productId: plainText(row.productId),
    policyId: plainText(row.policyId),
    shield: plainText(row.shield),
    buyer: [buyer],
    holder: inFieldBefore,
    coverageAmount: plainText(row.coverage),
    payoutAmount: plainText(row.payout),
    premiumPaid: plainText(row.premium),
    createdAt: plainText(row.createdAt),
    expiresAt: plainText(row.expiresAt),
    status: [status],
    triggered: inFieldBefore,
    expired: inFieldBefore,
    productName: textOrNull(row.productName),
    purchasedAt: plainText(row.createdAt),
    waitingEndsAt: plainTextOrNull(row.waitingEndsAt),
    productActive: boolean(sql`${row.productActive} and not ${row.productPaused}`),
    priceSnapshot: plainText(row.priceSnapshot),
    triggeredAt: plainTextOrNull(row.triggeredAt),
    bondId: plainTextOrNull(row.bondEpochId),
    strikePrice: plainTextOrNull(row.strike),
    triggerPrice: plainTextOrNull(row.triggerPrice),
    currentPrice: [sql`coalesce(${row.prices}, ${noPricesText})`],
    currentPriceAt: inFieldBefore,
    distanceToTriggerBps: numberOrNull(
      sql`case when ${open} and ${known} then ${distance(current, row.triggerPrice)} end`,
    ),
    due: [
      sql`case when ${open} and ${row.due} then 'true,"claim":' || ${claim} else 'false,"claim":null' end`,
    ],
    claim: inFieldBefore,
    source: constant("index"),
    asOfBlock: plainText(row.headNumber),
    txHash: plainText(row.txHash),
    blockNumber: plainText(row.blockNumber),
    logIndex: numberOrNull(row.logIndex),
  };
  return jsonObject(fields);
}

const SHIELD = Buffer.from('"shield":"');
const ADDRESS_LENGTH = 42;
/** Fewer bytes than from the start of a shield's address to the key of the next entry's: those are at least 787. */
const REST_LENGTH = 700;
/** The checksums of all shields that were shown, by their lower-case addresses. Products have few. */
const checksums = new Map<string, string>();

/** Replaces the shields of entries within this JSON by their checksums, which Postgres cannot compute. Quotes within names are escaped. */
export function writeChecksums(json: Buffer): void {
  for (let at = json.indexOf(SHIELD); at !== -1; at = json.indexOf(SHIELD, at + REST_LENGTH)) {
    at += SHIELD.length;
    const shield = json.toString("latin1", at, at + ADDRESS_LENGTH);
    const checksum = checksums.get(shield) ?? getAddress(shield);
    checksums.set(shield, checksum);
    json.write(checksum, at, "latin1");
  }
}

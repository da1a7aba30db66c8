/** The rows of reports. */
import { z } from "@hono/zod-openapi";
import type { ISql, Sql } from "postgres";
import { type Address, getAddress, type Hex, isAddress, isHex } from "viem";
import { lower } from "../../lib/lower.ts";
import type { Report, ReportEvent, ReportKind, ReportRecord } from "./report.ts";

/** A stored report. Its record is null while its transaction is in no block. */
export type StoredReport = {
  readonly id: string;
  readonly report: Report;
  readonly createdAt: Date;
  readonly record: ReportRecord | null;
  /** The record's block is final. */
  readonly final: boolean;
};

const integer = z.string().regex(/^\d+$/).transform(BigInt);
const address = z.custom<Address>((text) => typeof text === "string" && isAddress(text));
const hex = z.custom<Hex>((text) => isHex(text));

const bonds = { epochId: integer, amount: integer };
const contents = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("redeem"), ...bonds }),
  z.object({ kind: z.literal("list"), ...bonds, price: integer }),
  z.object({ kind: z.literal("buy"), listingId: integer, amount: integer, price: integer }),
]);

const common = { logIndex: z.int(), ...bonds };
const sale = { listingId: integer, seller: address, price: integer };
const events: z.ZodType<ReportEvent> = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("redeem"),
    ...common,
    holder: address,
    outcome: z.discriminatedUnion("status", [
      z.object({ status: z.literal("redeemed"), tokenAmount: integer, priceUsed: integer }),
      z.object({ status: z.literal("queued"), targetEpoch: integer }),
    ]),
  }),
  z.object({ kind: z.literal("list"), ...common, ...sale }),
  z.object({ kind: z.literal("buy"), ...common, ...sale, buyer: address }),
]);

const rows = z.array(
  z
    .object({
      id: z.string(),
      kind: z.string(),
      wallet: hex,
      txHash: hex,
      content: z.record(z.string(), z.string()),
      createdAt: z.date(),
      final: z.boolean(),
      record: z.object({ event: events, timestamp: integer }).nullable(),
      blockNumber: integer.nullable(),
      blockHash: hex.nullable(),
    })
    .transform(({ id, kind, wallet, txHash, content, createdAt, final, record, ...block }): StoredReport => {
      const { blockNumber: number, blockHash: hash } = block;
      const report = { wallet: getAddress(wallet), txHash, ...contents.parse({ kind, ...content }) };
      if (record === null || number === null || hash === null)
        return { id, report, createdAt, final, record: null };
      const { event, timestamp } = record;
      return { id, report, createdAt, final, record: { event, block: { number, hash, timestamp } } };
    }),
);

const columns = (
  sql: ISql,
) => sql`id, kind, wallet, tx_hash as "txHash", content, created_at as "createdAt", final, record,
  block_number as "blockNumber", block_hash as "blockHash"`;

/** JSON with integers of any size as decimal strings. */
const json = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) => (typeof inner === "bigint" ? String(inner) : inner));

/** What the wallet reports of the event, without what has a column of its own. */
function contentOf({ kind: _, wallet: __, txHash: ___, ...content }: Report): string {
  return json(content);
}

/** The columns that make two reports the same. */
const isSame = (sql: ISql, chainId: number, report: Report) => sql`
  chain_id = ${chainId} and tx_hash = ${report.txHash} and kind = ${report.kind} and wallet = ${lower(report.wallet)}
  and content = ${contentOf(report)}::text::jsonb`;

/** The stored form of a report; undefined when it was not stored. */
export async function findReport(
  sql: Sql,
  chainId: number,
  report: Report,
): Promise<StoredReport | undefined> {
  const [row] = rows.parse([
    ...(await sql`select ${columns(sql)} from service.report where ${isSame(sql, chainId, report)}`),
  ]);
  return row;
}

/** A report by its id (a UUID); undefined when there is none on this chain. */
export async function readReport(sql: Sql, chainId: number, id: string): Promise<StoredReport | undefined> {
  const [row] = rows.parse([
    ...(await sql`select ${columns(sql)} from service.report where id = ${id} and chain_id = ${chainId}`),
  ]);
  return row;
}

/** A report that has been pending for this long is deleted, in days: no node keeps a transaction for so long. */
const PENDING_DAYS = 30;
/** Most of them that one new report deletes: more than one, so that they become fewer, and few enough for one call. */
const FORGOTTEN_AT_ONCE = 10;

async function forgetOldPending(sql: Sql): Promise<void> {
  await sql`
    delete from service.report where record is null and id in (
      select id from service.report
      where record is null and created_at < now() - make_interval(days => ${PENDING_DAYS})
      order by created_at limit ${FORGOTTEN_AT_ONCE} for update skip locked)`;
}

/**
 * Stores a report without a record, and deletes old ones. When the same is stored already, that one is returned unchanged.
 */
export async function storePending(sql: Sql, chainId: number, report: Report): Promise<StoredReport> {
  await forgetOldPending(sql);
  const stored = await sql`
    with added as (
      insert into service.report (chain_id, kind, wallet, tx_hash, content)
      values (${chainId}, ${report.kind}, ${lower(report.wallet)}, ${report.txHash}, ${contentOf(report)}::text::jsonb)
      on conflict do nothing returning *)
    select ${columns(sql)} from added
    union all select ${columns(sql)} from service.report where ${isSame(sql, chainId, report)}`;
  const [row] = rows.parse([...stored]);
  // Another call has stored the same report after this statement began.
  return row ?? storePending(sql, chainId, report);
}

/** Stores a report with its record, or gives the same stored report this record. */
export async function storeRecord(
  sql: Sql,
  chainId: number,
  report: Report,
  { event, block: { number, hash, timestamp } }: ReportRecord,
): Promise<StoredReport> {
  const stored = await sql`
    insert into service.report (chain_id, kind, wallet, tx_hash, content, record, block_number, block_hash)
    values (${chainId}, ${report.kind}, ${lower(report.wallet)}, ${report.txHash}, ${contentOf(report)}::text::jsonb,
      ${json({ event, timestamp })}::text::jsonb, ${String(number)}, ${hash})
    on conflict (chain_id, tx_hash, kind, wallet, content) do update
    set record = excluded.record, block_number = excluded.block_number, block_hash = excluded.block_hash, final = false
    returning ${columns(sql)}`;
  const [row] = rows.parse([...stored]);
  if (!row) throw new Error("the report was not stored");
  return row;
}

/** Notes that the block of a record is final. */
export async function markFinal(sql: Sql, id: string, blockHash: Hex): Promise<void> {
  await sql`update service.report set final = true where id = ${id} and block_hash = ${blockHash}`;
}

/** Removes a record, unless it is of another block by now. */
export async function removeRecord(sql: Sql, id: string, blockHash: Hex): Promise<void> {
  await sql`
    update service.report set record = null, block_number = null, block_hash = null, final = false
    where id = ${id} and block_hash = ${blockHash}`;
}

/** True when a report of this transaction and kind has a record: of any wallet, with any content. */
export async function isRecorded(
  sql: Sql,
  chainId: number,
  { txHash, kind }: { readonly txHash: Hex; readonly kind: ReportKind },
): Promise<boolean> {
  const found = await sql`
    select 1 from service.report
    where chain_id = ${chainId} and tx_hash = ${txHash} and kind = ${kind} and record is not null limit 1`;
  return found.length > 0;
}

import { eq, type SQL, sql } from "drizzle-orm";
import { type Address, isHex } from "viem";
import { z } from "zod";
import { lower } from "../../../lib/lower.ts";
import { account, bondEpoch, bondHolder, epochHolder, protocolStats } from "../../../ponder.schema.ts";
import type { IndexQuery } from "../../indexed/reader.ts";
import type { RankingPage } from "./ranking.ts";

/** The rows whose share is called concentration. */
const TOP = 10;

const integerText = z.string().transform(BigInt);
const hex = z.custom<`0x${string}`>((text) => isHex(text));
const countRow = z.object({ count: z.coerce.number(), top: integerText });

/** Rows after the previous page's last one, the largest amount first. */
const pageOf = (amount: SQL, address: SQL, { cursor, limit }: RankingPage): SQL => {
  const after = cursor && sql`where (${amount}, ${address}) < (${String(cursor.amount)}, ${cursor.address})`;
  return sql`${after ?? sql``} order by ${amount} desc, ${address} desc limit ${limit + 1}`;
};

export type HolderQuery = {
  /** Bonds of this epoch alone; undefined for all. */
  readonly epoch?: bigint | undefined;
  /** Its bonds, in escrow, count for their sellers. Undefined when the deployment does not name it. */
  readonly marketplace?: Address | undefined;
};

const holdersBut = (marketplace: Address | undefined) =>
  sql`bonds > 0 and owner <> ${marketplace === undefined ? "" : lower(marketplace)}`;

function holders({ epoch, marketplace }: HolderQuery): SQL {
  const isHolder = holdersBut(marketplace);
  return epoch === undefined
    ? sql`(select owner, bonds from ${bondHolder} where ${isHolder})`
    : sql`(select owner, bonds from ${epochHolder} where epoch_id = ${String(epoch)} and ${isHolder})`;
}

const holder = z.object({ owner: hex, bonds: integerText });

/** Holders by their bonds, the largest first, one row more than `limit`. Walks along an index. */
export async function readHolders(db: IndexQuery, query: HolderQuery & RankingPage) {
  const rows = await db.execute(sql`
    select owner, bonds::text as bonds from ${holders(query)} h ${pageOf(sql`h.bonds`, sql`h.owner`, query)}`);
  return z.array(holder).parse(rows);
}

/** The number of holders, and the bonds of the ten largest. It counts the entries of an index. */
export async function countHolders(db: IndexQuery, query: HolderQuery) {
  const [row] = await db.execute(sql`
    select (select count(*) from ${holders(query)} h) as count,
      (select coalesce(sum(bonds), 0)::text from (
        select bonds from ${holders(query)} h order by bonds desc, owner desc limit ${TOP}) largest) as top`);
  return countRow.parse(row);
}

/** The bonds in circulation, in whole dollars: of one epoch, or of all. */
export async function readOutstanding(db: IndexQuery, { epoch }: HolderQuery): Promise<bigint> {
  const [row] =
    epoch === undefined
      ? await db.select({ bonds: protocolStats.bondsOutstanding }).from(protocolStats)
      : await db
          .select({ bonds: bondEpoch.supply })
          .from(bondEpoch)
          .where(eq(bondEpoch.epochId, sql`${String(epoch)}`));
  return row?.bonds ?? 0n;
}

const epochRow = z.object({ epochId: integerText, supply: integerText, holders: z.coerce.number() });

/** Every epoch, the earliest first, with its bonds in circulation and the number of their holders. */
export async function readEpochHolders(db: IndexQuery, { marketplace }: HolderQuery) {
  const rows = await db.execute(sql`
    select e.epoch_id::text as "epochId", e.supply::text as supply, (
      select count(*) from ${epochHolder} h where h.epoch_id = e.epoch_id and ${holdersBut(marketplace)}) as holders
    from ${bondEpoch} e order by e.epoch_id`);
  return z.array(epochRow).parse(rows);
}

const buyer = z.object({
  address: hex,
  policies: z.coerce.number(),
  coverage: integerText,
  premium: integerText,
});

/** Buyers by the coverage that they bought, the largest first, one row more than `limit`. Walks along an index. */
export async function readBuyers(db: IndexQuery, page: RankingPage) {
  const rows = await db.execute(sql`
    select address, policies, coverage::text as coverage, premium::text as premium from ${account} a
    ${pageOf(sql`a.coverage`, sql`a.address`, page)}`);
  return z.array(buyer).parse(rows);
}

/** The number of buyers, and the coverage of the ten largest. It counts the entries of an index. */
export async function countBuyers(db: IndexQuery) {
  const [row] = await db.execute(sql`
    select (select count(*) from ${account}) as count,
      (select coalesce(sum(coverage), 0)::text from (
        select coverage from ${account} order by coverage desc, address desc limit ${TOP}) largest) as top`);
  return countRow.parse(row);
}

/** The coverage of all policies bought so far, USDC with 6 decimals. */
export async function readCoverage(db: IndexQuery): Promise<bigint> {
  const [row] = await db.select({ coverage: protocolStats.coverage }).from(protocolStats);
  return row?.coverage ?? 0n;
}

import { eq, sql } from "drizzle-orm";
import type { Hex } from "viem";
import { z } from "zod";
import { checkpointBlock, isWhole } from "../../lib/indexed/head.ts";
import { head } from "../../ponder.schema.ts";
import type { Block } from "./event.ts";
import type { IndexQuery } from "./sources/source.ts";

/** How far the outbox is; the fields are those of `service.outbox`. */
export type Cursor = {
  readonly finalBlock: bigint;
  /** Unix seconds. */
  readonly finalTime: bigint;
  readonly passedBlock: bigint;
  /** A decimal. */
  readonly pass: string;
};

/** How far the index is, and the outbox; without a cursor, the outbox has not begun. */
export type Position = {
  readonly head: Block;
  /** The newest block that can not be taken back any more. */
  readonly finalized: bigint;
  readonly cursor: Cursor | undefined;
};

const digits = z.string().regex(/^-?\d+$/);
const positionRow = z.object({
  ready: z.boolean().nullable(),
  whole: z.boolean(),
  number: digits,
  hash: z.custom<Hex>((hash) => typeof hash === "string" && hash.startsWith("0x")),
  timestamp: digits,
  finalized: digits.nullable(),
  pass: digits.nullable(),
  final_block: digits.nullable(),
  final_time: digits.nullable(),
  passed_block: digits.nullable(),
});

function cursorOf(row: z.output<typeof positionRow>): Cursor | undefined {
  const { pass, final_block, final_time, passed_block } = row;
  if (pass === null || final_block === null || final_time === null || passed_block === null) return undefined;
  return {
    finalBlock: BigInt(final_block),
    finalTime: BigInt(final_time),
    passedBlock: BigInt(passed_block),
    pass,
  };
}

/**
 * Reads both in one statement. Undefined while there is nothing to go by: no head, one of another chain, one that other
 * rows are ahead of, or an index that is not ready.
 */
export async function readPosition(
  db: Pick<IndexQuery, "execute">,
  viewsSchema: string,
  chainId: number,
): Promise<Position | undefined> {
  const views = sql.identifier(viewsSchema);
  const [found] = await db.execute(sql`
    select (select (value ->> 'is_ready') = '1' from ${views}."_ponder_meta" where key = 'app') as ready,
      ${isWhole()} as whole, ${head.number}::text as number, ${head.hash} as hash, ${head.timestamp}::text as timestamp,
      (select ${checkpointBlock(sql`finalized_checkpoint`)}::text
        from ${views}."_ponder_checkpoint" where chain_id = ${chainId}) as finalized,
      o.pass::text as pass, o.final_block::text as final_block, o.final_time::text as final_time,
      o.passed_block::text as passed_block
    from ${head} left join service.outbox o on o.chain_id = ${chainId}
    where ${eq(head.chainId, chainId)}`);
  if (found === undefined) return undefined;
  const row = positionRow.parse(found);
  if (!row.ready || !row.whole || row.finalized === null) return undefined;
  return {
    head: { number: BigInt(row.number), hash: row.hash, timestamp: BigInt(row.timestamp) },
    finalized: BigInt(row.finalized),
    cursor: cursorOf(row),
  };
}

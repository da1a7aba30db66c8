import { eq, sql } from "drizzle-orm";
import type { Hex } from "viem";
import { z } from "zod";
import { checkpointBlock } from "../../lib/indexed/checkpoint.ts";
import { head } from "../../ponder.schema.ts";
import type { Block } from "./event.ts";
import type { IndexQuery } from "./sources/source.ts";

/** How far the outbox has processed the chain: the chain's row of `service.outbox`. */
export type Cursor = {
  /** Events up to this block are never reverted. */
  readonly finalBlock: bigint;
  /** The events of policies that expired before this time are final too. Unix seconds. */
  readonly finalTime: bigint;
  /** The newest processed block (column `passed_block`). */
  readonly processedBlock: bigint;
  /** Rises with each write, so that only one of two concurrent writers succeeds (column `pass`). A decimal. */
  readonly version: string;
};

/** How far the index and the outbox are. The cursor is undefined before the outbox's first run. */
export type Progress = {
  /** Identifies the build of the index. */
  readonly build: string;
  /** The newest block of the index. */
  readonly head: Block;
  /** The newest block that the index regards as final. */
  readonly finalized: bigint;
  readonly cursor: Cursor | undefined;
};

const digits = z.string().regex(/^-?\d+$/);
const integer = digits.transform(BigInt);
const progressRow = z.object({
  build: z.string().nullable(),
  number: integer,
  hash: z.custom<Hex>((hash) => typeof hash === "string" && hash.startsWith("0x")),
  timestamp: integer,
  finalized: integer.nullable(),
  version: digits.nullable(),
  finalBlock: integer.nullable(),
  finalTime: integer.nullable(),
  processedBlock: integer.nullable(),
});

function cursorOf(row: z.output<typeof progressRow>): Cursor | undefined {
  const { version, finalBlock, finalTime, processedBlock } = row;
  if (version === null || finalBlock === null || finalTime === null || processedBlock === null)
    return undefined;
  return { finalBlock, finalTime, processedBlock, version };
}

/**
 * Reads the progress of index and outbox in one statement. Undefined while the index has no head of this chain: before its
 * first live block, and while it catches up.
 */
export async function readProgress(
  db: Pick<IndexQuery, "execute">,
  viewsSchema: string,
  chainId: number,
): Promise<Progress | undefined> {
  const views = sql.identifier(viewsSchema);
  const [found] = await db.execute(sql`
    select (select value ->> 'build_id' from ${views}."_ponder_meta" where key = 'app') as build,
      ${head.number}::text as number, ${head.hash} as hash, ${head.timestamp}::text as timestamp,
      (select ${checkpointBlock(sql`finalized_checkpoint`)}::text
        from ${views}."_ponder_checkpoint" where chain_id = ${chainId}) as finalized,
      o.pass::text as version, o.final_block::text as "finalBlock", o.final_time::text as "finalTime",
      o.passed_block::text as "processedBlock"
    from ${head} left join service.outbox o on o.chain_id = ${chainId}
    where ${eq(head.chainId, chainId)}`);
  if (found === undefined) return undefined;
  const row = progressRow.parse(found);
  const { build, number, hash, timestamp, finalized } = row;
  if (build === null || finalized === null) return undefined;
  return { build, head: { number, hash, timestamp }, finalized, cursor: cursorOf(row) };
}

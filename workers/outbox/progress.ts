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
  /** The newest processed block. */
  readonly processedBlock: bigint;
  /** Undefined where it is unknown how far the last run was complete. */
  readonly taken: Taken | undefined;
  /** Rises with each write, so that only one of two concurrent writers succeeds. A decimal. */
  readonly version: string;
};

/** A block of the index's build up to which every event is stored, and no stored event is off the block's chain. */
export type Taken = { readonly block: Block; readonly build: string };

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
const hash = z.custom<Hex>((value) => typeof value === "string" && value.startsWith("0x"));
const progressRow = z.object({
  build: z.string().nullable(),
  number: integer,
  hash,
  timestamp: integer,
  finalized: integer.nullable(),
  version: digits.nullable(),
  finalBlock: integer.nullable(),
  finalTime: integer.nullable(),
  processedBlock: integer.nullable(),
  takenBlock: integer.nullable(),
  takenHash: hash.nullable(),
  takenTime: integer.nullable(),
  takenBuild: z.string().nullable(),
});

type ProgressRow = z.output<typeof progressRow>;

function takenOf({ takenBlock, takenHash, takenTime, takenBuild }: ProgressRow): Taken | undefined {
  if (takenBlock === null || takenHash === null || takenTime === null || takenBuild === null)
    return undefined;
  return { block: { number: takenBlock, hash: takenHash, timestamp: takenTime }, build: takenBuild };
}

function cursorOf(row: ProgressRow): Cursor | undefined {
  const { version, finalBlock, finalTime, processedBlock } = row;
  if (version === null || finalBlock === null || finalTime === null || processedBlock === null)
    return undefined;
  return { finalBlock, finalTime, processedBlock, version, taken: takenOf(row) };
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
      o.version::text as version, o.final_block::text as "finalBlock", o.final_time::text as "finalTime",
      o.processed_block::text as "processedBlock", o.taken_block::text as "takenBlock", o.taken_hash as "takenHash",
      o.taken_time::text as "takenTime", o.taken_build as "takenBuild"
    from ${head} left join service.outbox o on o.chain_id = ${chainId}
    where ${eq(head.chainId, chainId)}`);
  if (found === undefined) return undefined;
  const row = progressRow.parse(found);
  const { build, number, hash, timestamp, finalized } = row;
  if (build === null || finalized === null) return undefined;
  return { build, head: { number, hash, timestamp }, finalized, cursor: cursorOf(row) };
}

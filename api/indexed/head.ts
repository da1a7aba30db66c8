/** Reads the head of the index: its newest block. */
import { head } from "../../ponder.schema.ts";
import type { AsOf } from "../chain/block.ts";
import type { IndexQuery } from "./reader.ts";

export type HeadRow = typeof head.$inferSelect;

export const selectHead = (query: Pick<IndexQuery, "select">) => query.select().from(head);

/** Undefined without a head, and for the views of another chain's index. */
export function asOfHead(row: HeadRow | undefined, chainId: number): AsOf | undefined {
  if (row?.chainId !== chainId) return undefined;
  return { source: "index", number: row.number, hash: row.hash, timestamp: row.timestamp };
}

/** Reads the head. Undefined as `asOfHead`. */
export async function readHead(
  query: Pick<IndexQuery, "select">,
  chainId: number,
): Promise<AsOf | undefined> {
  const [row] = await selectHead(query);
  return asOfHead(row, chainId);
}

import { z } from "@hono/zod-openapi";
import type { Hex } from "viem";
import { DecimalString, TxHash, UnixSeconds } from "../http/field-types.ts";
import type { Position } from "../http/paging.ts";

/** The position of an event in the chain. */
export const eventPosition = {
  txHash: TxHash,
  blockNumber: DecimalString.openapi({ description: "The event's block.", example: "1234" }),
  blockTimestamp: UnixSeconds,
  logIndex: z.int().openapi({ description: "Index of the event's log in its block.", example: 5 }),
};

/** The position of a row's event, as responses show it. */
export const positionBody = (row: Position & { txHash: Hex; blockTimestamp: bigint }) => ({
  txHash: row.txHash,
  blockNumber: String(row.blockNumber),
  blockTimestamp: String(row.blockTimestamp),
  logIndex: row.logIndex,
});

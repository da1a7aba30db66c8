import type { Hex } from "viem";

/** A block of the chain; `timestamp` in Unix seconds. */
export type ChainHead = { number: bigint; hash: Hex; timestamp: bigint };

/** The block that an answer describes, and the source of the answer. */
export type AsOf = ChainHead & { source: "index" | "chain" };

import type { AsOf } from "../chain/block.ts";

/** The value of `x-index-age`: seconds since the block's timestamp, and 0 for a block of the future. */
export const indexAge = ({ timestamp }: Pick<AsOf, "timestamp">): string =>
  String(Math.max(0, Math.floor(Date.now() / 1000) - Number(timestamp)));

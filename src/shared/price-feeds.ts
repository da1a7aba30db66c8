import type { Address, Hex } from "viem";
import { isAddress, isHex } from "viem";
import { z } from "zod";

/**
 * The aggregators behind the price feeds and the sequencer feed. The launcher reads them from the chain, because only the
 * feeds' proxies know them, and hands them to Ponder in this variable of its own process. It is no configuration.
 */
export const FEEDS_VARIABLE = "INDEXED_PRICE_FEEDS";

const address = z
  .custom<Address>((text) => typeof text === "string" && isAddress(text, { strict: false }))
  .transform((text): Address => `0x${text.slice(2).toLowerCase()}`);

const feedsSchema = z.object({
  /** The index has the rounds from this block on: at least an hour before the contracts' start block. */
  firstBlock: z.int().nonnegative(),
  prices: z.array(
    z.object({
      /** The asset as in the products: its symbol as bytes32. */
      asset: z.custom<Hex>((text) => isHex(text)),
      /** The feed's address, which the shields read. */
      proxy: address,
      phases: z.array(
        z.object({
          /** 0 for a feed that is no proxy: its round ids are its own. */
          phase: z.int().nonnegative(),
          aggregator: address,
          /** The block from which the phase counts, if no log of the proxy began it before; null where only a log does. */
          since: z.int().nonnegative().nullable(),
        }),
      ),
    }),
  ),
  sequencer: z.object({
    aggregators: z.array(address),
    /** The status before the first block, with its start in Unix seconds; null when nobody knows. */
    before: z.object({ up: z.boolean(), startedAt: z.string().regex(/^\d+$/) }).nullable(),
  }),
});

export type IndexedFeeds = z.output<typeof feedsSchema>;
export type IndexedPriceFeed = IndexedFeeds["prices"][number];

/** The feeds that the launcher has found. @throws when the variable is not set: Ponder runs only under the launcher. */
export function indexedFeeds(env: Readonly<Record<string, string | undefined>>): IndexedFeeds {
  const text = env[FEEDS_VARIABLE];
  if (text === undefined) throw new Error(`${FEEDS_VARIABLE} is not set: start the indexer by its launcher`);
  return feedsSchema.parse(JSON.parse(text));
}

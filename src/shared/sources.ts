import type { Address, Hex } from "viem";
import { isAddress, isHex } from "viem";
import { z } from "zod";

/**
 * What only the chain tells of the indexed contracts, and the catalogue of the products. The launcher reads it and hands it to
 * Ponder in this variable of its own process. It is no configuration.
 */
export const SOURCES_VARIABLE = "INDEXED_SOURCES";

const address = z
  .custom<Address>((text) => typeof text === "string" && isAddress(text, { strict: false }))
  .transform((text): Address => `0x${text.slice(2).toLowerCase()}`);
const hex = z.custom<Hex>((text) => isHex(text)).transform((text): Hex => `0x${text.slice(2).toLowerCase()}`);

const sourcesSchema = z.object({
  /** The index has the rounds from this block on: at least an hour before the contracts' start block. */
  firstBlock: z.int().nonnegative(),
  prices: z.array(
    z.object({
      /** The asset as in the products: its symbol as bytes32. */
      asset: hex,
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
  /** The adapters that the manager has ever registered, each with the shield behind it; null for one that cannot sell. */
  shields: z.array(z.object({ productId: hex, adapter: address, shield: address.nullable() })),
  /** The vault's source of the token's price. */
  priceOracle: address,
  /** The first block whose state the node had when the launcher started. */
  statesFrom: z.int().nonnegative(),
  /** What the contracts have no getter for. */
  catalogue: z.array(
    z.object({
      productId: hex,
      name: z.string(),
      asset: hex,
      durationSeconds: z.int().positive(),
      triggerDropBps: z.int().positive(),
    }),
  ),
});

export type IndexedSources = z.output<typeof sourcesSchema>;
export type IndexedPriceFeed = IndexedSources["prices"][number];
export type IndexedShield = IndexedSources["shields"][number];

/** What the launcher has found. @throws when the variable is not set: Ponder runs only under the launcher. */
export function indexedSources(env: Readonly<Record<string, string | undefined>>): IndexedSources {
  const text = env[SOURCES_VARIABLE];
  if (text === undefined)
    throw new Error(`${SOURCES_VARIABLE} is not set: start the indexer by its launcher`);
  return sourcesSchema.parse(JSON.parse(text));
}

/** The protocol token's price: the vault's own, or as the indexed events tell it. */
import { z } from "@hono/zod-openapi";
import { sql } from "drizzle-orm";
import { valueWithin } from "../../lib/timeout.ts";
import { bondRedemption, burnExecution, policy } from "../../ponder.schema.ts";
import type { AsOf } from "../chain/block.ts";
import type { ChainReads } from "../chain/chain-reads.ts";
import { UnixSeconds } from "../http/field-types.ts";
import type { IndexQuery } from "../indexed/reader.ts";
import { decimal, integer } from "./fields.ts";

const eventSources = ["purchase", "burn", "redemption"] as const;
const sources = ["vault", ...eventSources] as const;

/** Longest wait for the vault's price, in ms. */
const PRICE_TIMEOUT_MS = 1500;

/**
 * Purchases of which the newest with a price is taken. A purchase may have none, and no query may walk along all policies.
 */
const RECENT_POLICIES = 100;

const integerText = z.string().transform(BigInt);
const row = z.object({
  source: z.enum(eventSources),
  price: integerText,
  blockNumber: integerText,
  blockTimestamp: integerText,
});

export type EventPrice = z.output<typeof row>;
export type TokenPrice = Omit<EventPrice, "source"> & { readonly source: (typeof sources)[number] };

/**
 * The newest price that an event names: of a policy's purchase, a burn or a redemption. A burn's is that of its swap,
 * the others are the answer of the token's price oracle in their block, which emits nothing. Undefined before the first of these events.
 */
export async function readEventPrice(db: IndexQuery): Promise<EventPrice | undefined> {
  const columns = sql`block_number, log_index, block_timestamp`;
  const newestFirst = sql`order by block_number desc, log_index desc`;
  const [found] = await db.execute(sql`
    select source, price::text, block_number::text as "blockNumber", block_timestamp::text as "blockTimestamp" from (
      (select 'purchase' as source, price_snapshot as price, ${columns}
        from (select price_snapshot, ${columns} from ${policy} ${newestFirst} limit ${sql.raw(String(RECENT_POLICIES))}) recent
        where price_snapshot > 0 ${newestFirst} limit 1)
      union all
      -- A swap so cheap that its price is 0 with 6 decimals names none.
      (select 'burn', effective_price, ${columns} from ${burnExecution} where effective_price > 0 ${newestFirst} limit 1)
      union all
      (select 'redemption', price_used, ${columns} from ${bondRedemption} ${newestFirst} limit 1)) newest
    ${newestFirst} limit 1`);
  return found && row.parse(found);
}

/** The price by which the vault counts in the indexed block; the event's where the node does not tell it in time. */
export async function currentTokenPrice(
  chain: Pick<ChainReads, "vaultPrice">,
  named: EventPrice | undefined,
  { number, timestamp }: AsOf,
): Promise<TokenPrice | undefined> {
  const price = await valueWithin(PRICE_TIMEOUT_MS, chain.vaultPrice(number));
  // A vault never answers 0: a contract that does is no vault.
  return price ? { source: "vault", price, blockNumber: number, blockTimestamp: timestamp } : named;
}

export const tokenPriceField = z
  .object({
    price: decimal("USD per token, 18 decimals.", "100000000000000000"),
    source: z.enum(sources).openapi({
      description: "`vault`: the vault's own view. Otherwise the kind of event that named it.",
      example: "vault",
    }),
    block_number: decimal("Block of that view or event.", "1234"),
    observed_at: UnixSeconds.openapi({ description: "Time of that block, Unix seconds." }),
    age_seconds: integer("Seconds from then to the indexed block.", 12),
  })
  .nullable()
  .openapi({
    description:
      "The price by which the vault's contract counts in the indexed block: its price oracle's, or its fixed lowest price while the oracle has none. If the node does not answer, the newest price that an indexed event names: of a purchase, a burn or a redemption. A burn's is that of its swap, the others are the answer of the price oracle in their block; it may have moved since. Null before the first such event.",
  });

export const tokenPriceBody = (found: TokenPrice | undefined, { timestamp }: AsOf) =>
  found === undefined
    ? null
    : {
        price: String(found.price),
        source: found.source,
        block_number: String(found.blockNumber),
        observed_at: String(found.blockTimestamp),
        age_seconds: Number(timestamp - found.blockTimestamp),
      };

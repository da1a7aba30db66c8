import { and, asc, eq, gt, or, sql } from "drizzle-orm";
import type { Address } from "viem";
import { lower } from "../../lib/lower.ts";
import { bondEpoch, bondHolding, head, sellerProceeds } from "../../ponder.schema.ts";
import type { IndexQuery } from "../indexed/reader.ts";
import { always } from "../indexed/walk.ts";

/**
 * Prepares the read of an address's bonds by epoch: those that it has, those in the redemption queue, and those that it
 * redeemed; with the proceeds of its sales in each row. Bonds are few because an epoch is a month. Uses the primary keys.
 * Prepared because building the statement takes longer than running it.
 */
export function prepareHoldings(db: IndexQuery) {
  const page = db
    .select({
      epochId: bondHolding.epochId,
      amount: bondHolding.balance,
      redeemed: bondHolding.redeemed,
      queued: bondHolding.queued,
      escrowed: bondHolding.escrowed,
      maturityDate: bondEpoch.maturityDate,
    })
    .from(bondHolding)
    .leftJoin(bondEpoch, eq(bondEpoch.epochId, bondHolding.epochId))
    .where(
      and(
        eq(bondHolding.owner, sql.placeholder("owner")),
        or(gt(bondHolding.balance, 0n), gt(bondHolding.redeemed, 0n), gt(bondHolding.queued, 0n)),
      ),
    )
    .as("page");
  const proceeds = db
    .select({ credited: sellerProceeds.credited, withdrawn: sellerProceeds.withdrawn })
    .from(sellerProceeds)
    .where(eq(sellerProceeds.seller, sql.placeholder("owner")))
    .as("proceeds");
  const statement = db
    .select()
    .from(head)
    .leftJoin(proceeds, always)
    .leftJoin(page, always)
    .orderBy(asc(page.epochId))
    .prepare("holdings");
  return (owner: Address) => statement.execute({ owner: lower(owner) });
}

/** USDC (6 decimals) that a seller has not withdrawn, from rows of {@link prepareHoldings}. */
export function withdrawableIn(
  found: readonly { readonly proceeds: { credited: bigint; withdrawn: bigint } | null }[],
): bigint {
  const proceeds = found[0]?.proceeds;
  return proceeds ? proceeds.credited - proceeds.withdrawn : 0n;
}

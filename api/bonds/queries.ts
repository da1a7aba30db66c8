import { and, asc, eq, gt, or, sql } from "drizzle-orm";
import type { Address } from "viem";
import { lower } from "../../lib/lower.ts";
import { bondEpoch, bondHolding, head } from "../../ponder.schema.ts";
import type { IndexQuery } from "../indexed/reader.ts";
import { always } from "../indexed/walk.ts";

/**
 * Prepares the read of an address's bonds by epoch: those that it has, those in the redemption queue, and those that it
 * redeemed. They are few because an epoch is a month. Uses the primary key. Prepared because building the statement takes
 * longer than running it.
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
  const statement = db
    .select()
    .from(head)
    .leftJoin(page, always)
    .orderBy(asc(page.epochId))
    .prepare("holdings");
  return (owner: Address) => statement.execute({ owner: lower(owner) });
}

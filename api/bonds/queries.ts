import { and, asc, eq, gt, sql } from "drizzle-orm";
import type { Address } from "viem";
import { isWhole } from "../../lib/indexed/head.ts";
import { lower } from "../../lib/lower.ts";
import { bondEpoch, bondHolding, head } from "../../ponder.schema.ts";
import type { IndexQuery } from "../index/reader.ts";
import { always } from "../index/walk.ts";

/**
 * Reads what an address holds, epoch by epoch: the claim bond's balances above zero. An epoch is a month, so these are few.
 * Served by the primary key. Prepared, for to build it takes longer than to run it.
 */
export function prepareHoldings(db: IndexQuery) {
  const page = db
    .select({
      epochId: bondHolding.epochId,
      amount: bondHolding.balance,
      maturityDate: bondEpoch.maturityDate,
    })
    .from(bondHolding)
    .leftJoin(bondEpoch, eq(bondEpoch.epochId, bondHolding.epochId))
    .where(and(eq(bondHolding.owner, sql.placeholder("owner")), gt(bondHolding.balance, 0n)))
    .as("page");
  const statement = db
    .select()
    .from(head)
    .leftJoin(page, always)
    .where(isWhole())
    .orderBy(asc(page.epochId))
    .prepare("holdings");
  return (owner: Address) => statement.execute({ owner: lower(owner) });
}

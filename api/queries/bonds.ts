import { and, asc, eq, gt } from "drizzle-orm";
import type { Address } from "viem";
import { bondEpoch, bondHolding } from "../../ponder.schema.ts";
import { lower } from "./address.ts";
import type { IndexQuery } from "./index-reader.ts";

/**
 * What an address holds, epoch by epoch: the claim bond's balances above zero. An epoch is a month, so these are few.
 * Served by the primary key.
 */
export const readHoldings = (db: IndexQuery, owner: Address) =>
  db
    .select({
      epochId: bondHolding.epochId,
      amount: bondHolding.balance,
      maturityDate: bondEpoch.maturityDate,
    })
    .from(bondHolding)
    .leftJoin(bondEpoch, eq(bondEpoch.epochId, bondHolding.epochId))
    .where(and(eq(bondHolding.owner, lower(owner)), gt(bondHolding.balance, 0n)))
    .orderBy(asc(bondHolding.epochId));

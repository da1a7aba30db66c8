import { asc, eq } from "drizzle-orm";
import { bondEpoch, marketEpoch } from "../../../ponder.schema.ts";
import type { IndexQuery } from "../../indexed/reader.ts";

/** Every epoch, the earliest first, with the bonds in active listings. There is an epoch per month at most. */
export const readMaturities = (db: IndexQuery) =>
  db
    .select({
      epochId: bondEpoch.epochId,
      maturityDate: bondEpoch.maturityDate,
      issued: bondEpoch.issued,
      redeemed: bondEpoch.redeemed,
      queued: bondEpoch.queued,
      surrendered: bondEpoch.surrendered,
      supply: bondEpoch.supply,
      listed: marketEpoch.listed,
    })
    .from(bondEpoch)
    .leftJoin(marketEpoch, eq(marketEpoch.epochId, bondEpoch.epochId))
    .orderBy(asc(bondEpoch.epochId));

export type Maturity = Awaited<ReturnType<typeof readMaturities>>[number];

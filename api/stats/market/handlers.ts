import type { Api } from "../../http/env.ts";
import { decimalOrNull } from "../../http/field-types.ts";
import type { Period } from "../../http/paging.ts";
import { readMarketStats } from "../../indexed/market-stats.ts";
import { dayName, everyDay } from "../days.ts";
import { ratio } from "../ratio.ts";
import type { StatsParts } from "../stats-parts.ts";
import { readMarketDays, readMarketEpochs } from "./queries.ts";
import { marketRoute } from "./routes.ts";

/** The face value of a bond in USDC's units. */
const FACE = 1_000_000n;
const SECONDS_PER_YEAR = 365n * 86_400n;

type Sales = {
  readonly sales: number;
  readonly amount: bigint;
  /** The prices of the bonds in `amount`; left out where all sales are of known listings. */
  readonly amountVolume?: bigint;
  readonly volume: bigint;
  readonly fees: bigint;
};

const salesBody = ({ sales, amount, volume, fees, amountVolume = volume }: Sales) => ({
  sales,
  sold_usd: String(amount),
  volume_usdc: String(volume),
  fees_usdc: String(fees),
  average_price: amount === 0n ? null : String(amountVolume / amount),
});

/** The simple yearly yield of a bond at this price (USDC, 6 decimals) until its maturity; null where it has none. */
function impliedYield(price: bigint, maturity: bigint | null, now: bigint): string | null {
  if (maturity === null || maturity <= now) return null;
  return ratio((FACE - price) * SECONDS_PER_YEAR, price * (maturity - now));
}

type Epoch = Awaited<ReturnType<typeof readMarketEpochs>>[number];

function epochBody(epoch: Epoch, now: bigint) {
  const floor = epoch.floor === null ? null : BigInt(epoch.floor);
  return {
    epoch_id: String(epoch.epochId),
    maturity_date: decimalOrNull(epoch.maturityDate),
    active_listings: epoch.activeListings,
    listed_usd: String(epoch.listed),
    floor_price: decimalOrNull(floor),
    floor_to_face: floor === null ? null : ratio(floor, FACE),
    implied_yield: floor === null ? null : impliedYield(floor, epoch.maturityDate, now),
    ...salesBody(epoch),
  };
}

const NO_SALES: Sales = { sales: 0, amount: 0n, volume: 0n, fees: 0n };

export function addMarketRoutes(app: Api, { index, responses }: StatsParts): void {
  const market = responses.define(
    (_: Period) =>
      index.read((db, asOf) =>
        Promise.all([
          readMarketDays(db),
          readMarketEpochs(db),
          readMarketStats(
            db,
            asOf.then(({ timestamp }) => timestamp),
          ),
        ]),
      ),
    ([days, epochs, { floorPerUnit, day: lastDay }], period, { timestamp }) => {
      const rows = new Map(days.map((day) => [day.dayStart, day]));
      return {
        by_day: everyDay([...rows.keys()], period, timestamp).map((start) => ({
          day: dayName(start),
          ...salesBody(rows.get(start) ?? NO_SALES),
        })),
        by_epoch: epochs.map((epoch) => epochBody(epoch, timestamp)),
        floor_price: decimalOrNull(floorPerUnit),
        sales_24h: lastDay.sales,
        volume_24h_usdc: String(lastDay.volume),
      };
    },
  );
  app.openapi(marketRoute, async (c) => responses.send(c, await market(c.req.valid("query")), marketRoute));
}

import { together, useRead } from "../../data/use-read.ts";
import { counted, percentText } from "../../format/amount.ts";
import { Amount } from "../../parts/amount.tsx";
import { Figure, Figures } from "../../parts/figures.tsx";
import { Percent } from "../../parts/percent.tsx";
import { Shown } from "../../parts/shown.tsx";
import { ofFace } from "./face.ts";
import { floorYield } from "./sentence.tsx";

const NOTHING = "No bond is for sale.";

/** The market in six figures: now, within 24 hours, and of all time. */
export function MarketFigures() {
  const read = together({
    market: useRead("/api/v1/stats/market"),
    totals: useRead("/api/v1/marketplace/stats"),
  });
  return (
    <section>
      <Shown read={read} height={16}>
        {({ market, totals }) => (
          <Figures>
            <Figure
              label="Floor"
              unit="usdc"
              note={
                market.floor_price === null
                  ? NOTHING
                  : `${percentText(ofFace(market.floor_price), 2)} of face value`
              }
            >
              {market.floor_price === null ? (
                <span title={NOTHING}>–</span>
              ) : (
                <Amount value={market.floor_price} unit="usdc" bare />
              )}
            </Figure>
            <Figure label="Yield at the floor" note="a year, before fees">
              <Percent ratio={floorYield(market)} none="No bond is for sale, or it is mature." />
            </Figure>
            <Figure
              label="For sale"
              unit="dollars"
              note={counted(totals.totalListings, "listing", "listings")}
            >
              <Amount
                value={market.by_epoch.reduce((sum, { listed_usd }) => sum + BigInt(listed_usd), 0n)}
                unit="dollars"
                bare
              />
            </Figure>
            <Figure label="24 h volume" unit="usdc" note={counted(market.sales_24h, "sale", "sales")}>
              <Amount value={market.volume_24h_usdc} unit="usdc" bare />
            </Figure>
            <Figure label="Sold so far" unit="usdc" note={counted(totals.totalSales, "sale", "sales")}>
              <Amount value={totals.totalVolume} unit="usdc" bare />
            </Figure>
            <Figure label="Fees so far" unit="usdc" note="of sellers and buyers">
              <Amount value={totals.totalFees} unit="usdc" bare />
            </Figure>
          </Figures>
        )}
      </Shown>
    </section>
  );
}

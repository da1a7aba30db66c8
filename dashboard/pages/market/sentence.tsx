import type { AnswerTo } from "../../../client/index.ts";
import { useRead } from "../../data/use-read.ts";
import { counted, percentText } from "../../format/amount.ts";
import { Amount } from "../../parts/amount.tsx";
import { Shown } from "../../parts/shown.tsx";

type Market = AnswerTo<"/api/v1/stats/market">;

/** The yield of the cheapest bond; null where none is for sale, or it is mature. */
export const floorYield = ({ by_epoch, floor_price }: Market): string | null =>
  by_epoch.find((epoch) => floor_price !== null && epoch.floor_price === floor_price)?.implied_yield ?? null;

function Floor({ market }: { market: Market }) {
  if (market.floor_price === null) return <>No bond is for sale</>;
  const earned = floorYield(market);
  return (
    <>
      A dollar of bonds costs <Amount value={market.floor_price} unit="usdc" /> at least
      {earned !== null && <>, a yield of {percentText(earned, 2)} a year</>}
    </>
  );
}

/** “A dollar of bonds costs 0.92 USDC at least, a yield of 9.31 % a year; 1 sale brought 655 USDC within 24 hours.” */
export function MarketSentence() {
  const read = useRead("/api/v1/stats/market");
  return (
    <Shown read={read}>
      {(market) =>
        market.by_epoch.length === 0 && market.by_day.length === 0 ? (
          <>No bond has been offered yet. The first listing appears here by itself.</>
        ) : (
          <>
            <Floor market={market} />;{" "}
            {market.sales_24h === 0 ? (
              <>none was sold within 24 hours.</>
            ) : (
              <>
                {counted(market.sales_24h, "sale", "sales")} brought{" "}
                <Amount value={market.volume_24h_usdc} unit="usdc" least={0} /> within 24 hours.
              </>
            )}
          </>
        )
      }
    </Shown>
  );
}

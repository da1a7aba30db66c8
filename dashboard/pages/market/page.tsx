import { useRead } from "../../data/use-read.ts";
import { counted } from "../../format/amount.ts";
import { Amount } from "../../parts/amount.tsx";
import { Head } from "../../parts/head.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Epochs } from "./epochs.tsx";
import { Listings } from "./listings.tsx";
import { Sales } from "./sales.tsx";
import { Volume } from "./volume.tsx";

/** “A bond of one dollar costs 0.95 USDC at least; 2 sales brought 655.00 USDC within 24 hours.” */
function MarketSentence() {
  const read = useRead("/api/v1/stats/market");
  return (
    <Shown read={read}>
      {({ floor_price, sales_24h, volume_24h_usdc }) => (
        <>
          {floor_price === null ? (
            <>No bond is for sale</>
          ) : (
            <>
              A bond of one dollar costs <Amount value={floor_price} unit="usdc" /> at least
            </>
          )}
          ;{" "}
          {sales_24h === 0 ? (
            <>none was sold within 24 hours.</>
          ) : (
            <>
              {counted(sales_24h, "sale", "sales")} brought <Amount value={volume_24h_usdc} unit="usdc" />{" "}
              within 24 hours.
            </>
          )}
        </>
      )}
    </Shown>
  );
}

/** Where holders sell their bonds before maturity. */
export default function Market() {
  return (
    <>
      <Head title="Market">
        <MarketSentence />
      </Head>
      <Volume />
      <Listings />
      <Epochs />
      <Sales />
    </>
  );
}

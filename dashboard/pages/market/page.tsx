import { Head } from "../../parts/head.tsx";
import { Epochs } from "./epochs.tsx";
import { MarketFigures } from "./figures.tsx";
import { Listings } from "./listings.tsx";
import { Prices } from "./prices.tsx";
import { RecentSales } from "./recent-sales.tsx";
import { SalesByTime } from "./sales-by-time.tsx";
import { MarketSentence } from "./sentence.tsx";

/** Where holders sell their bonds before maturity: at which price, and what a buyer earns. */
export default function Market() {
  return (
    <>
      <Head title="Market">
        <MarketSentence />
      </Head>
      <Prices />
      <MarketFigures />
      <Listings />
      <Epochs />
      <SalesByTime />
      <RecentSales />
    </>
  );
}

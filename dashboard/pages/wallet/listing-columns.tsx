import type { Schema } from "../../../client/index.ts";
import { bpsText } from "../../format/amount.ts";
import { timestampSeconds } from "../../format/day.ts";
import type { Column } from "../../parts/table.tsx";
import { Moment } from "../../parts/time.tsx";

export type Listing = Schema<"MarketListing">;

/** What is said of every listing, its own or another wallet's. */
export const listingColumns: readonly Column<Listing>[] = [
  { head: "Listing", unit: "count", amount: ({ listingId }) => listingId },
  {
    head: "Matures",
    cell: ({ maturityDate }) =>
      maturityDate === null ? "–" : <Moment at={timestampSeconds(maturityDate)} day />,
  },
  { head: "Face value", unit: "dollars", amount: ({ amount }) => amount },
  { head: "Price", unit: "usdc", amount: ({ totalPriceUsdc }) => totalPriceUsdc },
  { head: "Below face", numeric: true, cell: ({ discountBps }) => bpsText(discountBps) },
];

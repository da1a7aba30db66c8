import { api } from "../../../data/api.ts";
import { useRead } from "../../../data/use-read.ts";
import { bpsText } from "../../../format/amount.ts";
import { timestampSeconds } from "../../../format/day.ts";
import { Address } from "../../../parts/address.tsx";
import { Section } from "../../../parts/head.tsx";
import { Shown } from "../../../parts/shown.tsx";
import { Table } from "../../../parts/table.tsx";
import { Moment } from "../../../parts/time.tsx";
import { buyListing } from "./actions.ts";
import { isOwn } from "./connection.ts";
import { RowButton } from "./row-button.tsx";

const request = { query: { limit: 50 } } as const;

/** What others offer, the cheapest first, for the connected wallet to buy. */
export function Offers() {
  const read = useRead("/api/v1/marketplace/listings", request);
  return (
    <Section
      title="Bonds you can buy"
      sentence="The cheapest 50 listings; the buyer pays a fee of 1.5 % on top."
    >
      <Shown read={read} height={16}>
        {({ listings }) => (
          <Table
            caption="Listings of others"
            rows={listings.filter(({ seller }) => !isOwn(seller))}
            keyOf={({ listingId }) => listingId}
            source={api.address("/api/v1/marketplace/listings", request)}
            empty="Nobody else offers a bond now."
            columns={[
              { head: "Listing", unit: "count", amount: ({ listingId }) => listingId },
              {
                head: "Matures",
                cell: ({ maturityDate }) =>
                  maturityDate === null ? "–" : <Moment at={timestampSeconds(maturityDate)} day />,
              },
              { head: "Face value", unit: "dollars", amount: ({ amount }) => amount },
              { head: "Price", unit: "usdc", amount: ({ totalPriceUsdc }) => totalPriceUsdc },
              { head: "Below face", numeric: true, cell: ({ discountBps }) => bpsText(discountBps) },
              { head: "Seller", cell: ({ seller }) => <Address of={seller} /> },
              {
                head: "Action",
                cell: ({ listingId }) => <RowButton label="Buy" begins={buyListing(listingId)} />,
              },
            ]}
          />
        )}
      </Shown>
    </Section>
  );
}

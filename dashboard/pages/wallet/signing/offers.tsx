import { api } from "../../../data/api.ts";
import { useRead } from "../../../data/use-read.ts";
import { Address } from "../../../parts/address.tsx";
import { Section } from "../../../parts/head.tsx";
import { Shown } from "../../../parts/shown.tsx";
import { Table } from "../../../parts/table.tsx";
import { listingColumns } from "../listing-columns.tsx";
import { buyListing } from "./actions.ts";
import { isOwn } from "./connection.ts";
import { RowButton } from "./row-button.tsx";

const request = { query: { limit: 50 } } as const;

/** What others offer, the cheapest first, for the connected wallet to buy. */
export function Offers() {
  const read = useRead("/api/v1/marketplace/listings", request);
  return (
    <Section title="Bonds you can buy" sentence="The cheapest 50 listings; the buyer pays a fee on top.">
      <Shown read={read} height={16}>
        {({ listings }) => (
          <Table
            caption="Listings of others"
            rows={listings.filter(({ seller }) => !isOwn(seller))}
            keyOf={({ listingId }) => listingId}
            source={api.address("/api/v1/marketplace/listings", request)}
            empty="Nobody else offers a bond now."
            columns={[
              ...listingColumns,
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

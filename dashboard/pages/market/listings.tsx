import { api } from "../../data/api.ts";
import { useRead } from "../../data/use-read.ts";
import { counted } from "../../format/amount.ts";
import { Address } from "../../parts/address.tsx";
import { Section } from "../../parts/head.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Table } from "../../parts/table.tsx";
import { Ago, Moment } from "../../parts/time.tsx";

const query = { limit: 50 };

/** Bonds for sale, newest first; a press on a head sorts them. */
export function Listings() {
  const read = useRead("/api/v1/marketplace/active-listings", { query });
  return (
    <Section title="For sale">
      <Shown read={read} height={40}>
        {({ listings, total }) => (
          <>
            {total > listings.length && (
              <p class="note">
                The newest {counted(listings.length, "listing", "listings")} of {total}.
              </p>
            )}
            <Table
              caption="Bonds for sale"
              rows={listings}
              keyOf={({ listingId }) => listingId}
              source={api.address("/api/v1/marketplace/active-listings", { query })}
              empty="No bond is for sale now."
              columns={[
                { head: "Listing", unit: "count", amount: ({ listingId }) => listingId },
                {
                  head: "Matures",
                  cell: ({ maturityDate }) =>
                    maturityDate === null ? "–" : <Moment at={maturityDate} day />,
                  sortBy: ({ maturityDate }) => Number(maturityDate ?? 0),
                },
                { head: "Face value", unit: "dollars", amount: ({ amount }) => amount },
                { head: "Price", unit: "usdc", amount: ({ totalPriceUsdc }) => totalPriceUsdc },
                { head: "Per dollar", unit: "usdc", amount: ({ pricePerUnit }) => pricePerUnit },
                { head: "Seller", cell: ({ sellerAddress }) => <Address of={sellerAddress} /> },
                { head: "Listed", cell: ({ createdAt }) => <Ago at={createdAt} /> },
              ]}
            />
          </>
        )}
      </Shown>
    </Section>
  );
}

import { api } from "../../data/api.ts";
import { useLiveRead } from "../../data/use-read.ts";
import { Section } from "../../parts/head.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Table } from "../../parts/table.tsx";
import { type Listing, listingColumns } from "./listing-columns.tsx";
import { cancelListing } from "./signing/actions.ts";
import { ownColumn, RowButton } from "./signing/row-button.tsx";

/** The bonds that a wallet offers for sale. */
export function WalletListings({ address }: { address: string }) {
  const request = { query: { seller: address } };
  const read = useLiveRead("/api/v1/marketplace/listings", request);
  return (
    <Section title="For sale">
      <Shown read={read} height={16}>
        {({ listings }) => (
          <Table
            caption="Listings of the wallet"
            rows={listings}
            keyOf={({ listingId }) => listingId}
            source={api.address("/api/v1/marketplace/listings", request)}
            empty="This wallet offers no bond for sale."
            columns={[
              ...listingColumns,
              ...ownColumn(address, ({ listingId }: Listing) => (
                <RowButton label="Cancel" begins={cancelListing(listingId)} />
              )),
            ]}
          />
        )}
      </Shown>
    </Section>
  );
}

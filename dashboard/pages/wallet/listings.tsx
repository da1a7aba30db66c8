import type { Schema } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useLiveRead } from "../../data/use-read.ts";
import { bpsText } from "../../format/amount.ts";
import { timestampSeconds } from "../../format/day.ts";
import { Section } from "../../parts/head.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Table } from "../../parts/table.tsx";
import { Moment } from "../../parts/time.tsx";
import { cancelListing } from "./signing/actions.ts";
import { ownColumn, RowButton } from "./signing/row-button.tsx";

type Listing = Schema<"MarketListing">;

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
              { head: "Listing", unit: "count", amount: ({ listingId }) => listingId },
              {
                head: "Matures",
                cell: ({ maturityDate }) =>
                  maturityDate === null ? "–" : <Moment at={timestampSeconds(maturityDate)} day />,
              },
              { head: "Face value", unit: "dollars", amount: ({ amount }) => amount },
              { head: "Price", unit: "usdc", amount: ({ totalPriceUsdc }) => totalPriceUsdc },
              { head: "Below face", numeric: true, cell: ({ discountBps }) => bpsText(discountBps) },
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

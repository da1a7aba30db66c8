import type { AnswerTo } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { position } from "../../data/heartbeat.ts";
import { choice } from "../../data/place.ts";
import { useRead } from "../../data/use-read.ts";
import { counted } from "../../format/amount.ts";
import { timestampSeconds } from "../../format/day.ts";
import { epochName } from "../../format/epoch.ts";
import { Address } from "../../parts/address.tsx";
import { Choices } from "../../parts/choices.tsx";
import { Section } from "../../parts/head.tsx";
import { cursorInView, PageLinks } from "../../parts/page-links.tsx";
import { Percent } from "../../parts/percent.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Table } from "../../parts/table.tsx";
import { Ago } from "../../parts/time.tsx";
import { Word } from "../../parts/word.tsx";
import { impliedYield } from "./face.ts";
import { OfFace } from "./of-face.tsx";

type Search = AnswerTo<"/api/v1/marketplace/listings">;
type Listing = Search["listings"][number];

const orders = ["smallest", "largest", "newest"] as const;
const views = {
  smallest: { label: "Smallest first", sortBy: "price-asc" },
  largest: { label: "Largest first", sortBy: "price-desc" },
  newest: { label: "Newest first", sortBy: "createdAt-desc" },
} as const;

const LIMIT = 25;
/** Where order and offset are in the address. */
const ORDER = "listings";
const OFFSET = "listings-from";

/** How many listings are skipped, by the address. */
const offsetInView = (): number => {
  const offset = Number(cursorInView(OFFSET) ?? 0);
  return Number.isInteger(offset) && offset > 0 ? offset : 0;
};

/** A listing's yearly yield at the time of the chain's newest block. */
function Yield({ listing: { pricePerUnit, maturityDate } }: { listing: Listing }) {
  const now = position.value?.headTime;
  const ratio =
    now === undefined || maturityDate === null
      ? null
      : impliedYield(pricePerUnit, timestampSeconds(maturityDate), now);
  return <Percent ratio={ratio} none="The bonds are mature: they can be redeemed now." />;
}

const ListingTable = ({ listings, source }: { listings: readonly Listing[]; source: string }) => (
  <Table
    caption="Bonds for sale"
    rows={listings}
    keyOf={({ listingId }) => listingId}
    source={source}
    empty="No bond is for sale now. A holder who lists bonds appears here by itself."
    columns={[
      { head: "Listing", unit: "count", amount: ({ listingId }) => listingId },
      {
        head: "Matures in",
        cell: ({ epochId, matured }) => (
          <>
            {epochName(epochId)} {matured && <Word tone="paid">redeemable</Word>}
          </>
        ),
        sortBy: ({ epochId }) => BigInt(epochId),
      },
      { head: "Face value", unit: "dollars", amount: ({ amount }) => amount },
      { head: "Price", unit: "usdc", amount: ({ totalPriceUsdc }) => totalPriceUsdc },
      {
        head: "Of face value",
        numeric: true,
        cell: ({ pricePerUnit }) => <OfFace unitPrice={pricePerUnit} />,
        sortBy: ({ pricePerUnit }) => BigInt(pricePerUnit),
      },
      { head: "Yield a year", numeric: true, cell: (listing) => <Yield listing={listing} /> },
      { head: "Seller", cell: ({ seller }) => <Address of={seller} /> },
      { head: "Listed", cell: ({ listedAt }) => <Ago at={listedAt} /> },
    ]}
  />
);

/** Bonds for sale, in the order of the address. */
export function Listings() {
  const order = choice(ORDER, orders);
  const offset = offsetInView();
  const query = { sortBy: views[order].sortBy, limit: LIMIT, ...(offset === 0 ? {} : { offset }) };
  const read = useRead("/api/v1/marketplace/listings", { query });
  return (
    <Section
      title="For sale"
      sentence="A listing is sold as a whole. Its yield is that of a year, before fees, if its bonds are redeemed at maturity."
      controls={
        <Choices
          name={ORDER}
          label="Order of the listings"
          chosen={order}
          resets={OFFSET}
          options={orders.map((value) => ({ value, label: views[value].label }))}
        />
      }
    >
      <Shown read={read} height={40}>
        {({ listings, total }) => (
          <>
            {total > listings.length && (
              <p class="note">
                {counted(listings.length, "listing", "listings")} of {total}.
              </p>
            )}
            <ListingTable
              key={`${order} ${offset}`}
              listings={listings}
              source={api.address("/api/v1/marketplace/listings", { query })}
            />
            <PageLinks
              name={OFFSET}
              next={offset + listings.length < total ? String(offset + LIMIT) : null}
              what="listings"
            />
          </>
        )}
      </Shown>
    </Section>
  );
}

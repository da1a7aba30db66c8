import { api } from "../../data/api.ts";
import { useLiveRead, useRead } from "../../data/use-read.ts";
import { epochName } from "../../format/epoch.ts";
import { Address, Hash } from "../../parts/address.tsx";
import { Section } from "../../parts/head.tsx";
import { cursorInView, PageLinks } from "../../parts/page-links.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Table } from "../../parts/table.tsx";
import { Ago } from "../../parts/time.tsx";
import { OfFace } from "./of-face.tsx";

const LIMIT = 20;
/** Where the cursor is in the address. */
const CURSOR = "sales-before";

/** The newest sales; new ones slide in. */
export function RecentSales() {
  const cursor = cursorInView(CURSOR);
  const query = { limit: LIMIT, ...(cursor === undefined ? {} : { cursor }) };
  const read = useLiveRead("/api/v1/marketplace/recent-sales", { query });
  const health = useRead("/health");
  const explorer = health.state === "ready" ? health.body.chain.explorerUrl : null;
  return (
    <Section title="Recent sales" sentence="Seller and buyer pay a fee each, beside the price.">
      <Shown read={read} height={40}>
        {({ sales, nextCursor }) => (
          <>
            <Table
              key={cursor}
              caption="The newest sales"
              rows={sales}
              keyOf={({ txHash, logIndex }) => `${txHash} ${logIndex}`}
              source={api.address("/api/v1/marketplace/recent-sales", { query })}
              empty="No bond was sold yet. The first sale appears here by itself."
              columns={[
                { head: "Sold", cell: ({ soldAt }) => <Ago at={soldAt} /> },
                {
                  head: "Matures in",
                  cell: ({ epochId }) => (epochId === null ? "–" : epochName(epochId)),
                },
                { head: "Face value", unit: "dollars", amount: ({ amount }) => amount },
                { head: "Price", unit: "usdc", amount: ({ totalPriceUsdc }) => totalPriceUsdc },
                {
                  head: "Of face value",
                  numeric: true,
                  cell: ({ pricePerUnit }) => <OfFace unitPrice={pricePerUnit} />,
                },
                {
                  head: "Fees",
                  unit: "usdc",
                  amount: ({ sellerFeeUsdc, buyerFeeUsdc }) => BigInt(sellerFeeUsdc) + BigInt(buyerFeeUsdc),
                },
                { head: "Seller", cell: ({ seller }) => <Address of={seller} /> },
                { head: "Buyer", cell: ({ buyer }) => <Address of={buyer} /> },
                { head: "Transaction", cell: ({ txHash }) => <Hash of={txHash} explorer={explorer} /> },
              ]}
            />
            <PageLinks name={CURSOR} next={nextCursor} what="sales" />
          </>
        )}
      </Shown>
    </Section>
  );
}

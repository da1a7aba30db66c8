import { api } from "../../data/api.ts";
import { useRead } from "../../data/use-read.ts";
import { Address } from "../../parts/address.tsx";
import { Section } from "../../parts/head.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Table } from "../../parts/table.tsx";
import { Ago } from "../../parts/time.tsx";

const query = { limit: 20 };

/** The newest sales. */
export function Sales() {
  const read = useRead("/api/v1/marketplace/recent-sales", { query });
  return (
    <Section title="Sold lately">
      <Shown read={read} height={40}>
        {({ sales }) => (
          <Table
            caption="The newest sales"
            rows={sales}
            keyOf={({ txHash, logIndex }) => `${txHash} ${logIndex}`}
            source={api.address("/api/v1/marketplace/recent-sales", { query })}
            empty="No bond was sold yet."
            columns={[
              { head: "Listing", unit: "count", amount: ({ listingId }) => listingId },
              { head: "Face value", unit: "dollars", amount: ({ amount }) => amount },
              { head: "Price", unit: "usdc", amount: ({ totalPriceUsdc }) => totalPriceUsdc },
              { head: "Per dollar", unit: "usdc", amount: ({ pricePerUnit }) => pricePerUnit },
              { head: "Seller", cell: ({ seller }) => <Address of={seller} /> },
              { head: "Buyer", cell: ({ buyer }) => <Address of={buyer} /> },
              {
                head: "When",
                cell: ({ soldAt }) => <Ago at={soldAt} />,
                sortBy: ({ soldAt }) => Number(soldAt),
              },
            ]}
          />
        )}
      </Shown>
    </Section>
  );
}

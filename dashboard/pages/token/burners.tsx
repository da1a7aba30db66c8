import { useRead } from "../../data/use-read.ts";
import { sourceLabel } from "../../format/sources.ts";
import { Address } from "../../parts/address.tsx";
import { Section } from "../../parts/head.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Table } from "../../parts/table.tsx";

/** What burner and buyback engine have received, spent, and not spent yet. */
export function Burners() {
  const read = useRead("/api/v1/stats/burners");
  return (
    <Section
      title="Burners"
      sentence="The TWAP burner gets premiums and the market’s fees; the buyback engine buys bonds back, and burns tokens of the reserve for them. What waits is not spent yet."
    >
      <Shown read={read} height={16}>
        {({ burners }) => (
          <Table
            caption="Burner contracts"
            rows={burners}
            keyOf={({ source }) => source}
            source="/api/v1/stats/burners"
            empty="The index knows no burner yet."
            columns={[
              { head: "Burner", cell: ({ source }) => sourceLabel(source) },
              {
                head: "Contract",
                cell: ({ address }) => (address === null ? "–" : <Address of={address} />),
              },
              { head: "Premiums", unit: "usdc", amount: ({ premium_usdc }) => premium_usdc },
              { head: "Fees", unit: "usdc", amount: ({ fee_usdc }) => fee_usdc },
              { head: "Spent", unit: "usdc", amount: ({ spent_usdc }) => spent_usdc },
              { head: "Waits", unit: "usdc", amount: ({ pending_usdc }) => pending_usdc },
            ]}
          />
        )}
      </Shown>
    </Section>
  );
}

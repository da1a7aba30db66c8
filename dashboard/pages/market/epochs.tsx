import { useRead } from "../../data/use-read.ts";
import { Section } from "../../parts/head.tsx";
import { Percent, ratioOrder } from "../../parts/percent.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Table } from "../../parts/table.tsx";
import { Moment } from "../../parts/time.tsx";

/** What bonds of each maturity cost against their face value. */
export function Epochs() {
  const read = useRead("/api/v1/stats/market");
  return (
    <Section
      title="By maturity"
      sentence="The yield is that of a year, for a bond bought at the floor and paid with its face value at maturity."
    >
      <Shown read={read} height={16}>
        {({ by_epoch }) => (
          <Table
            caption="Bonds by maturity"
            rows={by_epoch}
            keyOf={({ epoch_id }) => epoch_id}
            source="/api/v1/stats/market"
            empty="No bond was listed yet."
            columns={[
              {
                head: "Matures",
                cell: ({ maturity_date }) =>
                  maturity_date === null ? "–" : <Moment at={maturity_date} day />,
                sortBy: ({ maturity_date }) => Number(maturity_date ?? 0),
              },
              { head: "For sale", unit: "dollars", amount: ({ listed_usd }) => listed_usd },
              { head: "Floor", unit: "usdc", amount: ({ floor_price }) => floor_price },
              {
                head: "Of face",
                numeric: true,
                cell: ({ floor_to_face }) => <Percent ratio={floor_to_face} none="None is for sale." />,
                sortBy: ({ floor_to_face }) => ratioOrder(floor_to_face),
              },
              {
                head: "Yield",
                numeric: true,
                cell: ({ implied_yield }) => (
                  <Percent ratio={implied_yield} none="None is for sale, or it is mature." />
                ),
                sortBy: ({ implied_yield }) => ratioOrder(implied_yield),
              },
              { head: "Sales", unit: "count", amount: ({ sales }) => sales },
              { head: "Sold for", unit: "usdc", amount: ({ volume_usdc }) => volume_usdc },
            ]}
          />
        )}
      </Shown>
    </Section>
  );
}

import { useRead } from "../../data/use-read.ts";
import { epochName } from "../../format/epoch.ts";
import { Section } from "../../parts/head.tsx";
import { Percent, ratioOrder } from "../../parts/percent.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Table } from "../../parts/table.tsx";

/** What bonds of each month of maturity cost and yield, and what was sold of them. */
export function Epochs() {
  const read = useRead("/api/v1/stats/market");
  return (
    <Section
      title="By maturity"
      sentence="Floor and yield are of what is for sale now; sales are of all time."
    >
      <Shown read={read} height={16}>
        {({ by_epoch }) => (
          <Table
            caption="The market by maturity"
            rows={by_epoch}
            keyOf={({ epoch_id }) => epoch_id}
            source="/api/v1/stats/market"
            empty="No bond was listed yet."
            columns={[
              {
                head: "Matures in",
                cell: ({ epoch_id }) => epochName(epoch_id),
                sortBy: ({ epoch_id }) => BigInt(epoch_id),
              },
              { head: "For sale", unit: "dollars", amount: ({ listed_usd }) => listed_usd },
              { head: "Floor", unit: "usdc", amount: ({ floor_price }) => floor_price },
              {
                head: "Yield a year",
                numeric: true,
                cell: ({ implied_yield }) => (
                  <Percent ratio={implied_yield} none="None is for sale, or it is mature." />
                ),
                sortBy: ({ implied_yield }) => ratioOrder(implied_yield),
              },
              { head: "Sales", unit: "count", amount: ({ sales }) => sales },
              { head: "Sold", unit: "dollars", amount: ({ sold_usd }) => sold_usd },
              { head: "Average price", unit: "usdc", amount: ({ average_price }) => average_price },
              { head: "Volume", unit: "usdc", amount: ({ volume_usdc }) => volume_usdc },
              { head: "Fees", unit: "usdc", amount: ({ fees_usdc }) => fees_usdc },
            ]}
          />
        )}
      </Shown>
    </Section>
  );
}

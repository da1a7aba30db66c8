import { useRead } from "../../data/use-read.ts";
import { dayStart } from "../../format/day.ts";
import { utcDay } from "../../format/time.ts";
import { Shown } from "../../parts/shown.tsx";
import { Table } from "../../parts/table.tsx";

/** The newest days that are shown; JSON and CSV have all. */
const MOST = 10;

/** The days on which bonds were sold, the newest first, with average price and fees. */
export function DaysWithSales() {
  const read = useRead("/api/v1/stats/market");
  return (
    <Shown read={read} height={16}>
      {({ by_day }) => (
        <div class="sale-days">
          <h3>The newest days with sales</h3>
          <Table
            caption="The newest days with sales"
            rows={by_day
              .filter(({ sales }) => sales > 0)
              .slice(-MOST)
              .reverse()}
            keyOf={({ day }) => day}
            source="/api/v1/stats/market"
            empty="No bond was sold yet."
            columns={[
              {
                head: "Day (UTC)",
                cell: ({ day }) => utcDay(dayStart(day)),
                sortBy: ({ day }) => dayStart(day),
              },
              { head: "Sales", unit: "count", amount: ({ sales }) => sales },
              { head: "Sold", unit: "dollars", amount: ({ sold_usd }) => sold_usd },
              { head: "Average price", unit: "usdc", amount: ({ average_price }) => average_price },
              { head: "Volume", unit: "usdc", amount: ({ volume_usdc }) => volume_usdc },
              { head: "Fees", unit: "usdc", amount: ({ fees_usdc }) => fees_usdc },
            ]}
          />
        </div>
      )}
    </Shown>
  );
}

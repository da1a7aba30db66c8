import { useRead } from "../../data/use-read.ts";
import { duration } from "../../format/time.ts";
import { Section } from "../../parts/head.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Table } from "../../parts/table.tsx";

/** When the active cover ends. */
export function Expiries() {
  const read = useRead("/api/v1/stats/cover");
  return (
    <Section title="Active cover by its end">
      <Shown read={read} height={16}>
        {({ by_expiry }) => (
          <Table
            caption="Active cover by its end"
            rows={by_expiry}
            keyOf={({ after_seconds }) => String(after_seconds)}
            source="/api/v1/stats/cover"
            empty="No policy is active."
            columns={[
              {
                head: "Ends",
                cell: ({ after_seconds, within_seconds }) =>
                  within_seconds === null
                    ? `after ${duration(after_seconds)}`
                    : `within ${duration(within_seconds)}`,
              },
              { head: "Policies", unit: "count", amount: ({ active }) => active.policies },
              { head: "Coverage", unit: "usdc", amount: ({ active }) => active.coverage },
              { head: "Payouts", unit: "usdc", amount: ({ active }) => active.payout },
            ]}
          />
        )}
      </Shown>
    </Section>
  );
}

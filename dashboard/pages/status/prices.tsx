import { useRead } from "../../data/use-read.ts";
import { Section } from "../../parts/head.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Table } from "../../parts/table.tsx";
import { Ago } from "../../parts/time.tsx";
import { Word } from "../../parts/word.tsx";

/** The price feeds by which policies are sold and triggered. */
export function Prices() {
  const read = useRead("/api/v1/stats/prices");
  return (
    <Section
      title="Price feeds"
      sentence="Policies are neither sold nor triggered while a price is older than an hour."
    >
      <Shown read={read} height={16}>
        {({ feeds }) => (
          <Table
            caption="Price feeds"
            rows={feeds}
            keyOf={({ symbol }) => symbol}
            source="/api/v1/stats/prices"
            empty="The index knows no price feed yet."
            columns={[
              { head: "Asset", cell: ({ symbol }) => symbol },
              { head: "Price", unit: "feedPrice", amount: ({ answer }) => answer },
              {
                head: "Updated",
                cell: ({ updated_at }) => (updated_at === null ? "never" : <Ago at={updated_at} />),
              },
              {
                head: "State",
                cell: ({ fresh }) =>
                  fresh ? <Word tone="good">Fresh</Word> : <Word tone="fault">Too old</Word>,
              },
            ]}
          />
        )}
      </Shown>
    </Section>
  );
}

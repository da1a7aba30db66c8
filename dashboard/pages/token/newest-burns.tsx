import { api } from "../../data/api.ts";
import { choice } from "../../data/place.ts";
import { useRead } from "../../data/use-read.ts";
import { sourceLabel } from "../../format/sources.ts";
import { Address, Hash } from "../../parts/address.tsx";
import { Choices } from "../../parts/choices.tsx";
import { Section } from "../../parts/head.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Table } from "../../parts/table.tsx";
import { Moment } from "../../parts/time.tsx";

const LIMIT = 25;
const sources = ["all", "twap_burner", "buyback_engine", "direct"] as const;

/** The newest burns one by one: of all, or of the source in the address. */
export function NewestBurns() {
  const source = choice("source", sources);
  const query = { ...(source === "all" ? {} : { source }), limit: LIMIT };
  const read = useRead("/api/v1/burns/recent", { query });
  const health = useRead("/health");
  const explorer = health.state === "ready" ? health.body.chain.explorerUrl : null;
  return (
    <Section
      title="Newest burns"
      controls={
        <Choices
          name="source"
          label="Burned by"
          chosen={source}
          options={sources.map((value) => ({ value, label: value === "all" ? "All" : sourceLabel(value) }))}
        />
      }
    >
      <Shown read={read} height={40}>
        {({ burns }) => (
          <Table
            key={source}
            caption="Newest burns"
            rows={burns}
            keyOf={({ txHash, logIndex }) => `${txHash} ${logIndex}`}
            source={api.address("/api/v1/burns/recent", { query })}
            empty={source === "all" ? "No token was burned yet." : "Nothing was burned by this source yet."}
            columns={[
              { head: "Burned by", cell: (burn) => sourceLabel(burn.source) },
              { head: "Burned", unit: "token", amount: ({ tokenBurned }) => tokenBurned },
              { head: "Spent", unit: "usdc", amount: ({ usdcSpent }) => usdcSpent },
              { head: "Price", unit: "price", amount: ({ effectivePrice }) => effectivePrice },
              { head: "When", cell: ({ blockTimestamp }) => <Moment at={blockTimestamp} /> },
              { head: "Owner", cell: ({ burner }) => <Address of={burner} /> },
              { head: "Transaction", cell: ({ txHash }) => <Hash of={txHash} explorer={explorer} /> },
            ]}
          />
        )}
      </Shown>
    </Section>
  );
}

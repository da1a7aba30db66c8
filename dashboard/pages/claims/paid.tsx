import type { Schema } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useRead } from "../../data/use-read.ts";
import { counted } from "../../format/amount.ts";
import { productLabel } from "../../format/names.ts";
import { duration } from "../../format/time.ts";
import { Address } from "../../parts/address.tsx";
import { Section } from "../../parts/head.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Table } from "../../parts/table.tsx";
import { Moment } from "../../parts/time.tsx";

const query = { limit: 50 };

type Claim = Schema<"Claim">;

/** “Of the newest 5 claims the slowest was paid 12 s after its proof.” */
function sentenceOf(claims: readonly Claim[]): string {
  const delays = claims.flatMap(({ seconds_from_proof }) => seconds_from_proof ?? []);
  if (delays.length === 0) return "The time from the third round that proves a policy to its payment.";
  return `Of ${counted(delays.length, "claim", "claims")} with known rounds the slowest was paid ${duration(Math.max(...delays))} after its proof.`;
}

const seconds = (count: number | null) => (count === null ? "–" : duration(count));

/** Each payment: the price that it was bought at, the one that triggered it, and how long that took. */
export function PaidClaims() {
  const read = useRead("/api/v1/stats/claims", { query });
  return (
    <Shown read={read} height={40}>
      {({ claims }) => (
        <Section title="Paid" sentence={sentenceOf(claims)}>
          <Table
            caption="The newest claims"
            rows={claims}
            keyOf={({ tx_hash, log_index }) => `${tx_hash} ${log_index}`}
            source={api.address("/api/v1/stats/claims", { query })}
            empty="No policy was paid yet. The first payment appears here by itself."
            columns={[
              {
                head: "Policy",
                cell: ({ product_name, policy_id }) => `${productLabel(product_name)}, ${policy_id}`,
              },
              { head: "Paid", unit: "dollars", amount: ({ paid }) => paid },
              { head: "Bought at", unit: "price", amount: ({ strike_price }) => strike_price },
              { head: "Trigger", unit: "price", amount: ({ trigger_price }) => trigger_price },
              { head: "When", cell: ({ triggered_at }) => <Moment at={triggered_at} /> },
              {
                head: "After proof",
                numeric: true,
                cell: ({ seconds_from_proof }) => seconds(seconds_from_proof),
                sortBy: ({ seconds_from_proof }) => seconds_from_proof ?? -1,
              },
              {
                head: "After purchase",
                numeric: true,
                cell: ({ seconds_to_trigger }) => seconds(seconds_to_trigger),
                sortBy: ({ seconds_to_trigger }) => seconds_to_trigger ?? -1,
              },
              { head: "Buyer", cell: ({ buyer }) => <Address of={buyer} /> },
            ]}
          />
        </Section>
      )}
    </Shown>
  );
}

import type { Schema } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { chainTime } from "../../data/clock.ts";
import { choice } from "../../data/place.ts";
import { useRead } from "../../data/use-read.ts";
import { counted } from "../../format/amount.ts";
import { duration } from "../../format/time.ts";
import { Address } from "../../parts/address.tsx";
import { Choices } from "../../parts/choices.tsx";
import { Section } from "../../parts/head.tsx";
import { PolicyName } from "../../parts/policy-name.tsx";
import { ProductChoice, productInView } from "../../parts/product-choice.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Table } from "../../parts/table.tsx";
import { Moment } from "../../parts/time.tsx";

const LIMIT = 50;
const DAY = 86_400;

const ranges = ["all", "30d", "7d"] as const;
const rangeLabels = { all: "All", "30d": "30 days", "7d": "7 days" } as const;
const days = { all: undefined, "30d": 30, "7d": 7 } as const;

type Claim = Schema<"Claim">;

/** “Of the newest 5 claims the slowest was paid 126 s after its first observation.” */
function sentenceOf(claims: readonly Claim[]): string {
  const delays = claims.flatMap(({ seconds_from_first_observation }) => seconds_from_first_observation ?? []);
  if (delays.length === 0)
    return "The time from the first of three observations to the payment, two minutes at least.";
  return `Of ${counted(delays.length, "claim", "claims")} with known observations the slowest was paid ${duration(Math.max(...delays))} after its first.`;
}

const seconds = (count: number | null) => (count === null ? "–" : duration(count));

/** The claims of a view. @param from only those of blocks from this time on, Unix seconds */
function ClaimTable({ product, from }: { product: string | undefined; from: number | undefined }) {
  const query = {
    limit: LIMIT,
    ...(product === undefined ? {} : { product }),
    ...(from === undefined ? {} : { from: String(from) }),
  };
  const read = useRead("/api/v1/stats/claims", { query });
  const isFiltered = product !== undefined || from !== undefined;
  return (
    <Shown read={read} height={40}>
      {({ claims, next_cursor }) => (
        <>
          <p class="note">
            {next_cursor !== null && `The newest ${LIMIT}. `}
            {sentenceOf(claims)}
          </p>
          <Table
            caption="The newest claims"
            rows={claims}
            keyOf={({ tx_hash, log_index }) => `${tx_hash} ${log_index}`}
            source={api.address("/api/v1/stats/claims", { query })}
            empty={
              isFiltered
                ? "No policy of this view was paid."
                : "No policy was paid yet. The first payment appears here by itself."
            }
            columns={[
              {
                head: "Policy",
                cell: ({ product_id, product_name, policy_id }) => (
                  <PolicyName productId={product_id} productName={product_name} policyId={policy_id} />
                ),
              },
              { head: "Paid", unit: "dollars", amount: ({ paid }) => paid },
              { head: "Bought at", unit: "price", amount: ({ strike_price }) => strike_price },
              { head: "Trigger", unit: "price", amount: ({ trigger_price }) => trigger_price },
              { head: "When", cell: ({ triggered_at }) => <Moment at={triggered_at} /> },
              {
                head: "After observation",
                numeric: true,
                cell: ({ seconds_from_first_observation }) => seconds(seconds_from_first_observation),
                sortBy: ({ seconds_from_first_observation }) => seconds_from_first_observation ?? -1,
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
        </>
      )}
    </Shown>
  );
}

/** The start of the UTC day so many days ago, by the chain's clock; undefined before the first block. */
function dayAgo(count: number): number | undefined {
  const now = chainTime.value;
  return now === undefined ? undefined : (Math.floor(now / DAY) - count) * DAY;
}

/** Each payment: the price that it was bought at, the one that triggered it, and how long that took. */
export function PaidClaims() {
  const range = choice("range", ranges);
  const read = useRead("/products");
  const count = days[range];
  const from = count === undefined ? undefined : dayAgo(count);
  return (
    <Section
      title="Paid"
      controls={
        <Choices
          name="range"
          label="Time"
          chosen={range}
          options={ranges.map((value) => ({ value, label: rangeLabels[value] }))}
        />
      }
    >
      <Shown read={read} height={40}>
        {({ products }) => {
          const product = productInView(products)?.productId;
          return (
            <>
              <ProductChoice products={products} />
              {(count === undefined || from !== undefined) && (
                <ClaimTable key={`${product} ${from}`} product={product} from={from} />
              )}
            </>
          );
        }}
      </Shown>
    </Section>
  );
}

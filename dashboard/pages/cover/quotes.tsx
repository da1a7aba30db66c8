import { useMemo, useState } from "preact/hooks";
import type { Schema } from "../../../client/index.ts";
import { useRead } from "../../data/use-read.ts";
import { bpsText } from "../../format/amount.ts";
import { productLabel } from "../../format/names.ts";
import { duration } from "../../format/time.ts";
import { Amount } from "../../parts/amount.tsx";
import { Section } from "../../parts/head.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Table } from "../../parts/table.tsx";

type Product = Schema<"Product">;

const USDC = 1_000_000n;
/** The slider's steps, in USDC; 100 is the least that the protocol sells. */
const STEP = 100;
const MOST = 10_000;
const BPS = 10_000n;
/** The coverage of the quotes that are read, 1000 USDC: the router's premium is proportional to the coverage. */
const QUOTED = 1000n * USDC;

/** What the router would take for a coverage. USDC, 6 decimals. */
function Premium({ productId, coverage }: { productId: string; coverage: bigint }) {
  const read = useRead("/products/{productId}/quote", {
    path: { productId },
    query: { coverageAmount: String(QUOTED) },
  });
  if (read.state === "loading") return <span aria-busy="true">–</span>;
  if (read.state === "failed") return <>–</>;
  return <Amount value={(BigInt(read.body.premium) * coverage) / QUOTED} unit="usdc" bare />;
}

function QuoteTable({ products, coverage }: { products: readonly Product[]; coverage: bigint }) {
  const rows = useMemo(() => products.filter(({ active }) => active), [products]);
  return (
    <Table
      caption="Products"
      rows={rows}
      keyOf={({ productId }) => productId}
      source="/products"
      empty="No product is for sale."
      columns={[
        { head: "Product", cell: ({ name }) => productLabel(name), sortBy: ({ name }) => name ?? "" },
        {
          head: "Window",
          numeric: true,
          cell: ({ durationSeconds }) => duration(durationSeconds),
          sortBy: ({ durationSeconds }) => durationSeconds,
        },
        {
          head: "Pays at a fall of",
          numeric: true,
          cell: ({ triggerDropBps }) => (triggerDropBps === null ? "–" : bpsText(triggerDropBps)),
          sortBy: ({ triggerDropBps }) => triggerDropBps ?? 0,
        },
        {
          head: "Premium",
          numeric: true,
          cell: ({ productId }) => <Premium productId={productId} coverage={coverage} />,
        },
        {
          head: "Payout",
          unit: "usdc",
          amount: ({ payoutRatioBps }) => (coverage * BigInt(payoutRatioBps)) / BPS,
        },
        {
          head: "Chance in the price",
          numeric: true,
          cell: ({ triggerProbBps }) => bpsText(triggerProbBps),
          sortBy: ({ triggerProbBps }) => triggerProbBps,
        },
      ]}
    />
  );
}

/** Premium and payout of each product for a coverage that a slider sets. */
export function Quotes() {
  const [chosen, setChosen] = useState(1000);
  const coverage = BigInt(chosen) * USDC;
  const read = useRead("/products");
  return (
    <Section
      title="Products"
      sentence="The premium is paid at once; a payout comes in bonds of its dollar value."
    >
      <p class="quote">
        <label for="coverage">
          Coverage <Amount value={coverage} unit="usdc" least={0} />
        </label>
        <input
          id="coverage"
          type="range"
          min={STEP}
          max={MOST}
          step={STEP}
          value={chosen}
          onInput={({ currentTarget }) => setChosen(currentTarget.valueAsNumber)}
        />
      </p>
      <Shown read={read} height={40}>
        {({ products }) => <QuoteTable products={products} coverage={coverage} />}
      </Shown>
    </Section>
  );
}

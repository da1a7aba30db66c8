import { useMemo } from "preact/hooks";
import type { AnswerTo, Schema } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { choice } from "../../data/place.ts";
import { together, useRead } from "../../data/use-read.ts";
import { amountWithUnit, bpsText, counted } from "../../format/amount.ts";
import { policyLabel } from "../../format/names.ts";
import { localMoment } from "../../format/time.ts";
import { Choices } from "../../parts/choices.tsx";
import { Section } from "../../parts/head.tsx";
import { ProductChoice, productInView } from "../../parts/product-choice.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Plot } from "../../plot/plot.tsx";
import { NearestPolicies } from "./nearest.tsx";
import { pricePoints, triggerLevels } from "./price-picture.ts";

type Product = Schema<"Product">;
type History = AnswerTo<"/api/v1/stats/price-history">;
type Nearest = AnswerTo<"/api/v1/policies/nearest">;

const ranges = ["24h", "1h", "7d", "30d"] as const;
type Range = (typeof ranges)[number];
const labels: Readonly<Record<Range, string>> = {
  "24h": "24 hours",
  "1h": "1 hour",
  "7d": "7 days",
  "30d": "30 days",
};
/** Triggers that are drawn over a price: with more of them no label could be read. */
const LEVELS = 6;

/** “60,000 USD since 25 Nov 2026, 02:30; 59,100 USD at the lowest in 24 hours.” */
function priceSentence({ points }: History, range: Range): string {
  const last = points.at(-1);
  if (!last) return "The feed has given no price yet.";
  const lowest = points.reduce(
    (low, point) => (BigInt(point.lowest) < low ? BigInt(point.lowest) : low),
    BigInt(last.lowest),
  );
  const price = amountWithUnit(last.price, "price", { least: 0 });
  const least = amountWithUnit(lowest, "price", { least: 0 });
  return `${price} since ${localMoment(last.timestamp)}; at the lowest in ${labels[range]} ${least}.`;
}

/** “Of 3 active policies BTC 24 h, policy 3 is the nearest to its trigger, 58,500 USD: 1.2 % below the price.” */
function nearestSentence({ policies: [nearest], total }: Nearest): string {
  if (!nearest || nearest.triggerPrice === null || nearest.distanceToTriggerBps === null)
    return "No policy waits for a fall.";
  const name = policyLabel(nearest.productName, nearest.policyId);
  const trigger = amountWithUnit(nearest.triggerPrice, "price", { least: 0 });
  const where =
    nearest.distanceToTriggerBps > 0
      ? `${bpsText(nearest.distanceToTriggerBps)} below the price`
      : "the price is at or below it";
  return total === 1
    ? `The only active policy, ${name}, has its trigger at ${trigger}: ${where}.`
    : `Of ${counted(total, "active policy", "active policies")} ${name} is the nearest to its trigger, ${trigger}: ${where}.`;
}

function PricePlot({
  symbol,
  range,
  history,
  nearest,
}: {
  symbol: string;
  range: Range;
  history: History;
  nearest: Nearest;
}) {
  const points = useMemo(() => pricePoints(history), [history]);
  const levels = useMemo(() => triggerLevels(nearest.policies), [nearest]);
  return (
    <Plot
      title={`${symbol} price`}
      sentence={`${priceSentence(history, range)} ${nearestSentence(nearest)}`}
      kind="steps"
      unit="price"
      period="moment"
      points={points}
      levels={levels}
      source={api.address("/api/v1/stats/price-history", { query: { asset: history.asset, range } })}
      empty="The index knows no price of this feed yet."
    />
  );
}

function AssetPrice({
  asset,
  symbol,
  product,
  range,
}: {
  asset: string;
  symbol: string;
  product: Product | undefined;
  range: Range;
}) {
  const filter = product ? { product: product.productId } : { asset };
  const read = together({
    history: useRead("/api/v1/stats/price-history", { query: { asset, range } }),
    nearest: useRead("/api/v1/policies/nearest", { query: { ...filter, limit: LEVELS } }),
  });
  return (
    <div class={product ? "wide" : undefined}>
      <Shown read={read} height={40}>
        {({ history, nearest }) => (
          <PricePlot symbol={symbol} range={range} history={history} nearest={nearest} />
        )}
      </Shown>
    </div>
  );
}

/** The prices of the assets that are covered: of one product, or of all of them. */
function AssetPrices({
  product,
  products,
  range,
}: {
  product: Product | undefined;
  products: readonly Product[];
  range: Range;
}) {
  const shown = product ? [product] : products;
  const assets = new Map(shown.map(({ asset, coveredAsset }) => [asset, coveredAsset]));
  return (
    <div class="plots">
      {[...assets].map(([asset, symbol]) => (
        <AssetPrice
          key={`${asset} ${range} ${product?.productId}`}
          asset={asset}
          symbol={symbol}
          product={product}
          range={range}
        />
      ))}
    </div>
  );
}

/** The price of each covered asset over the prices that pay its policies, and the policies that are nearest to that. */
export function PricesAgainstTriggers() {
  const range = choice("range", ranges);
  const read = useRead("/products");
  return (
    <Section
      title="Price against triggers"
      controls={
        <Choices
          name="range"
          label="Time"
          chosen={range}
          options={ranges.map((value) => ({ value, label: labels[value] }))}
        />
      }
    >
      <Shown read={read} height={40}>
        {({ products }) => {
          const product = productInView(products);
          return (
            <>
              <ProductChoice products={products} />
              <AssetPrices product={product} products={products} range={range} />
              <NearestPolicies key={product?.productId} product={product?.productId} />
            </>
          );
        }}
      </Shown>
    </Section>
  );
}

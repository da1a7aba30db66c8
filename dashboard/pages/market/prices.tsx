import { useMemo } from "preact/hooks";
import type { AnswerTo } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { together, useRead } from "../../data/use-read.ts";
import { amountWithUnit, counted, percentText } from "../../format/amount.ts";
import { localDay } from "../../format/time.ts";
import { Section } from "../../parts/head.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Plot } from "../../plot/plot.tsx";
import { FACE, ofFace } from "./face.ts";

type Sale = AnswerTo<"/api/v1/marketplace/recent-sales">["sales"][number];

/** The newest sales that are drawn: the most of one answer. */
const query = { limit: 100 };

/** “The last was 93.57 % of the face value, on 24 Nov 2026; 3 sales between 0.935714 USDC and 0.94 USDC.” */
function sentenceOf(points: readonly { at: number; value: string }[]): string {
  const last = points.at(-1);
  if (!last) return "Nothing was sold yet.";
  const prices = points.map(({ value }) => BigInt(value)).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const [lowest, highest] = [prices.at(0) ?? 0n, prices.at(-1) ?? 0n];
  const range = lowest === highest ? "" : ` and ${amountWithUnit(highest, "usdc")}`;
  const between = range === "" ? "at" : "between";
  return `The last was ${percentText(ofFace(last.value), 2)} of the face value, on ${localDay(last.at)}; ${counted(points.length, "sale", "sales")} ${between} ${amountWithUnit(lowest, "usdc")}${range}.`;
}

function PricePlot({ sales, floor }: { sales: readonly Sale[]; floor: string | null }) {
  const points = useMemo(
    () =>
      sales
        .flatMap(({ soldAt, pricePerUnit }) =>
          pricePerUnit === null ? [] : [{ at: Number(soldAt), value: pricePerUnit }],
        )
        .reverse(),
    [sales],
  );
  const levels = useMemo(
    () => [
      { value: FACE, label: "face value" },
      ...(floor === null ? [] : [{ value: floor, label: "floor now" }]),
    ],
    [floor],
  );
  return (
    <Plot
      title="Paid for a dollar of bonds"
      sentence={sentenceOf(points)}
      kind="line"
      unit="usdc"
      period="moment"
      points={points}
      levels={levels}
      source={api.address("/api/v1/marketplace/recent-sales", { query })}
      empty="No bond was sold yet. The first sale appears here by itself."
    />
  );
}

/** What buyers paid, against the face value that they get at maturity, and against what bonds cost now. */
export function Prices() {
  const read = together({
    feed: useRead("/api/v1/marketplace/recent-sales", { query }),
    market: useRead("/api/v1/stats/market"),
  });
  return (
    <Section title="Price against face value">
      <div class="plots">
        <div class="wide">
          <Shown read={read} height={40}>
            {({ feed: { sales }, market: { floor_price } }) => (
              <PricePlot sales={sales} floor={floor_price} />
            )}
          </Shown>
        </div>
      </div>
    </Section>
  );
}

import { useMemo } from "preact/hooks";
import type { AnswerTo } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { choice } from "../../data/place.ts";
import { useRead } from "../../data/use-read.ts";
import { amountWithUnit } from "../../format/amount.ts";
import { localMoment } from "../../format/time.ts";
import { Choices } from "../../parts/choices.tsx";
import { Section } from "../../parts/head.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Plot } from "../../plot/plot.tsx";

const ranges = ["all", "30d", "7d", "24h"] as const;
const labels = { all: "All", "30d": "30 days", "7d": "7 days", "24h": "24 hours" } as const;

type History = AnswerTo<"/api/v1/stats/token-price-history">;

function PricePlot({ history, range }: { history: History; range: (typeof ranges)[number] }) {
  const points = useMemo(
    () =>
      history.points
        .map(({ timestamp, price }) => ({ at: Number(timestamp), value: price }))
        .sort((a, b) => a.at - b.at),
    [history],
  );
  const last = points.at(-1);
  return (
    <Plot
      title="Price of the token"
      sentence={
        last
          ? `${amountWithUnit(last.value, "price", { digits: 6 })} at the last burn, ${localMoment(last.at)}.`
          : "No burn in this time."
      }
      kind="steps"
      unit="price"
      period="moment"
      points={points}
      source={api.address("/api/v1/stats/token-price-history", { query: { range } })}
      empty="No burner bought tokens in this time, so there is no price."
    />
  );
}

/** What the burners paid for a token. */
export function PriceHistory() {
  const range = choice("range", ranges);
  const read = useRead("/api/v1/stats/token-price-history", { query: { range } });
  return (
    <Section
      title="Price"
      controls={
        <Choices
          name="range"
          label="Time"
          chosen={range}
          options={ranges.map((value) => ({ value, label: labels[value] }))}
        />
      }
    >
      <div class="plots">
        <div class="wide">
          <Shown read={read} height={40}>
            {(history) => <PricePlot key={range} history={history} range={range} />}
          </Shown>
        </div>
      </div>
    </Section>
  );
}

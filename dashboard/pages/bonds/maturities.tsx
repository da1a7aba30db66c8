import { useMemo } from "preact/hooks";
import type { AnswerTo } from "../../../client/index.ts";
import { useRead } from "../../data/use-read.ts";
import { amountWithUnit, counted } from "../../format/amount.ts";
import { utcMonth } from "../../format/time.ts";
import { Section } from "../../parts/head.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Table } from "../../parts/table.tsx";
import { Moment } from "../../parts/time.tsx";
import { Word } from "../../parts/word.tsx";
import { Plot } from "../../plot/plot.tsx";

type Ladder = AnswerTo<"/api/v1/stats/bonds/maturities">;

/** “3 maturities; the next, in Sep 2027, pays 1,600 USD.” */
function sentenceOf({ epochs }: Ladder): string {
  const next = epochs
    .filter(
      ({ matured, maturity_date, outstanding_usd }) =>
        !matured && maturity_date !== null && outstanding_usd !== "0",
    )
    .sort((a, b) => Number(a.maturity_date) - Number(b.maturity_date))[0];
  const all = counted(epochs.length, "maturity", "maturities");
  if (!next) return `${all}; none of the outstanding bonds matures later.`;
  return `${all}; the next, in ${utcMonth(next.maturity_date ?? 0)}, has ${amountWithUnit(next.outstanding_usd, "dollars")} outstanding.`;
}

function LadderPlot({ ladder }: { ladder: Ladder }) {
  const points = useMemo(
    () =>
      ladder.epochs
        .flatMap(({ maturity_date, outstanding_usd }) =>
          maturity_date === null ? [] : [{ at: Number(maturity_date), value: outstanding_usd }],
        )
        .sort((a, b) => a.at - b.at),
    [ladder],
  );
  return (
    <Plot
      title="Outstanding bonds by maturity"
      sentence={sentenceOf(ladder)}
      kind="bars"
      unit="dollars"
      tone="paid"
      period="month"
      points={points}
      source="/api/v1/stats/bonds/maturities"
      empty="No bond is outstanding."
    />
  );
}

/** When bonds mature, and what became of those that were minted. */
export function Maturities() {
  const read = useRead("/api/v1/stats/bonds/maturities");
  return (
    <Section
      title="Maturities"
      sentence="Outstanding is what was minted, less what was redeemed, queued or given back."
    >
      <Shown read={read} height={40}>
        {(ladder) => (
          <>
            <div class="plots">
              <div class="wide">
                <LadderPlot ladder={ladder} />
              </div>
            </div>
            <Table
              caption="Bonds by maturity"
              rows={ladder.epochs}
              keyOf={({ epoch_id }) => epoch_id}
              source="/api/v1/stats/bonds/maturities"
              empty="No bond exists yet."
              columns={[
                {
                  head: "Matures",
                  cell: ({ maturity_date, matured }) => (
                    <>
                      {maturity_date === null ? "–" : <Moment at={maturity_date} day />}
                      {matured && (
                        <>
                          {" "}
                          <Word tone="good">mature</Word>
                        </>
                      )}
                    </>
                  ),
                  sortBy: ({ maturity_date }) => Number(maturity_date ?? 0),
                },
                { head: "Minted", unit: "dollars", amount: ({ minted_usd }) => minted_usd },
                { head: "Redeemed", unit: "dollars", amount: ({ redeemed_usd }) => redeemed_usd },
                { head: "Queued", unit: "dollars", amount: ({ queued_usd }) => queued_usd },
                { head: "Given back", unit: "dollars", amount: ({ surrendered_usd }) => surrendered_usd },
                { head: "Outstanding", unit: "dollars", amount: ({ outstanding_usd }) => outstanding_usd },
                { head: "For sale", unit: "dollars", amount: ({ listed_usd }) => listed_usd },
              ]}
            />
          </>
        )}
      </Shown>
    </Section>
  );
}

import { choice } from "../../data/place.ts";
import { useRead } from "../../data/use-read.ts";
import { epochName } from "../../format/epoch.ts";
import { Amount } from "../../parts/amount.tsx";
import { Choices } from "../../parts/choices.tsx";
import { Section } from "../../parts/head.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Table } from "../../parts/table.tsx";
import { Moment } from "../../parts/time.tsx";
import { Word } from "../../parts/word.tsx";
import { type Ladder, LadderPlot, rungs, rungViews } from "./ladder.tsx";

/** Issued, less everything that left, is in circulation: the sum that has to add up. */
const Balance = ({ total }: { total: Ladder["total"] }) => (
  <>
    Of <Amount value={total.minted_usd} unit="dollars" /> issued,{" "}
    <Amount value={total.redeemed_usd} unit="dollars" /> were redeemed,{" "}
    <Amount value={total.queued_usd} unit="dollars" /> wait in the queue,{" "}
    <Amount value={total.surrendered_usd} unit="dollars" /> were given up, and{" "}
    <Amount value={total.outstanding_usd} unit="dollars" /> are in circulation.
  </>
);

const LadderTable = ({ ladder }: { ladder: Ladder }) => (
  <Table
    caption="Bonds by maturity"
    rows={ladder.epochs}
    keyOf={({ epoch_id }) => epoch_id}
    source="/api/v1/stats/bonds/maturities"
    empty="No bond exists yet. Each policy that is paid creates some."
    columns={[
      {
        head: "Month",
        cell: ({ epoch_id }) => epochName(epoch_id),
        sortBy: ({ epoch_id }) => BigInt(epoch_id),
      },
      {
        head: "Matures",
        cell: ({ maturity_date, matured }) =>
          matured ? (
            <Word tone="paid">redeemable</Word>
          ) : maturity_date === null ? (
            "–"
          ) : (
            <Moment at={maturity_date} day />
          ),
      },
      { head: "Issued", unit: "dollars", amount: ({ minted_usd }) => minted_usd },
      { head: "Redeemed", unit: "dollars", amount: ({ redeemed_usd }) => redeemed_usd },
      { head: "Queued", unit: "dollars", amount: ({ queued_usd }) => queued_usd },
      { head: "Given up", unit: "dollars", amount: ({ surrendered_usd }) => surrendered_usd },
      { head: "In circulation", unit: "dollars", amount: ({ outstanding_usd }) => outstanding_usd },
      { head: "For sale", unit: "dollars", amount: ({ listed_usd }) => listed_usd },
    ]}
  />
);

/** When bonds mature, and what became of those that were issued. */
export function Maturities() {
  const rung = choice("bars", rungs);
  const read = useRead("/api/v1/stats/bonds/maturities");
  return (
    <Section
      title="Maturity ladder"
      controls={
        <Choices
          name="bars"
          label="What the bars show"
          chosen={rung}
          options={rungs.map((value) => ({ value, label: rungViews[value].title }))}
        />
      }
    >
      <Shown read={read} height={40}>
        {(ladder) => (
          <>
            <div class="plots">
              <div class="wide">
                <LadderPlot key={rung} ladder={ladder} rung={rung} />
              </div>
            </div>
            <p class="note balance">
              <Balance total={ladder.total} />
            </p>
            <LadderTable ladder={ladder} />
          </>
        )}
      </Shown>
    </Section>
  );
}

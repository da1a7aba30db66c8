import { useMemo } from "preact/hooks";
import type { AnswerTo } from "../../../client/index.ts";
import { amountWithUnit } from "../../format/amount.ts";
import { epochName, epochStart } from "../../format/epoch.ts";
import type { Tone } from "../../parts/word.tsx";
import { Plot } from "../../plot/plot.tsx";

export type Ladder = AnswerTo<"/api/v1/stats/bonds/maturities">;
type Epoch = Ladder["epochs"][number];

/** What the ladder can show of each month. The first is what is still to be paid. */
export const rungs = ["outstanding", "queued", "redeemed", "issued"] as const;
export type Rung = (typeof rungs)[number];

type RungView = {
  readonly title: string;
  readonly tone: Tone;
  readonly amountOf: (amounts: Ladder["total"]) => string;
  readonly empty: string;
};

export const rungViews: Readonly<Record<Rung, RungView>> = {
  outstanding: {
    title: "In circulation",
    tone: "accent",
    amountOf: ({ outstanding_usd }) => outstanding_usd,
    empty: "No bond is in circulation: none was issued yet, or all of them were redeemed.",
  },
  queued: {
    title: "Queued",
    tone: "risk",
    amountOf: ({ queued_usd }) => queued_usd,
    empty: "No redemption waits: what holders redeem is paid at once.",
  },
  redeemed: {
    title: "Redeemed",
    tone: "paid",
    amountOf: ({ redeemed_usd }) => redeemed_usd,
    empty: "No bond was redeemed yet.",
  },
  issued: {
    title: "Issued",
    tone: "accent",
    amountOf: ({ minted_usd }) => minted_usd,
    empty: "No bond was issued yet. Each policy that is paid creates some.",
  },
};

const dollars = (value: bigint | string) => amountWithUnit(value, "dollars");

/** “3,300 USD have matured and can be redeemed; the next month, Sep 2027, brings 1,600 USD.” */
function outstandingSentence(epochs: readonly Epoch[]): string {
  const held = epochs.filter(({ outstanding_usd }) => outstanding_usd !== "0");
  const mature = held.filter(({ matured }) => matured);
  const [next] = held.filter(({ matured }) => !matured);
  const now = mature.reduce((sum, { outstanding_usd }) => sum + BigInt(outstanding_usd), 0n);
  const past = now === 0n ? "None has matured" : `${dollars(now)} have matured and can be redeemed`;
  return next
    ? `${past}; the next month, ${epochName(next.epoch_id)}, brings ${dollars(next.outstanding_usd)}.`
    : `${past}; none matures later.`;
}

/** “83,000 USD in 3 months; the most, 66,000 USD, in Dec 2027.” */
function sumSentence({ epochs, total }: Ladder, { amountOf }: RungView): string {
  const most = epochs.reduce<Epoch | undefined>(
    (best, epoch) => (best && BigInt(amountOf(best)) >= BigInt(amountOf(epoch)) ? best : epoch),
    undefined,
  );
  if (!most || amountOf(total) === "0") return "Nothing so far.";
  return `${dollars(amountOf(total))} in all; the most, ${dollars(amountOf(most))}, of ${epochName(most.epoch_id)}.`;
}

/** One bar for each month of maturity. */
export function LadderPlot({ ladder, rung }: { ladder: Ladder; rung: Rung }) {
  const view = rungViews[rung];
  const points = useMemo(
    () => ladder.epochs.map((epoch) => ({ at: epochStart(epoch.epoch_id), value: view.amountOf(epoch) })),
    [ladder, view],
  );
  return (
    <Plot
      title={`${view.title} by maturity`}
      sentence={rung === "outstanding" ? outstandingSentence(ladder.epochs) : sumSentence(ladder, view)}
      kind="bars"
      unit="dollars"
      tone={view.tone}
      period="month"
      points={points}
      source="/api/v1/stats/bonds/maturities"
      empty={view.empty}
    />
  );
}

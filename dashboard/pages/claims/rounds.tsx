import { useMemo } from "preact/hooks";
import type { AnswerTo, Schema } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { amountWithUnit, bpsText, counted } from "../../format/amount.ts";
import { policyLabel } from "../../format/names.ts";
import { Table } from "../../parts/table.tsx";
import { Moment } from "../../parts/time.tsx";
import { type Tone, Word } from "../../parts/word.tsx";
import { Plot } from "../../plot/plot.tsx";
import type { Level } from "../../plot/points.ts";
import { fallBps } from "./fall.ts";

type Evaluation = AnswerTo<"/api/v1/triggers/{productId}/{policyId}">;
type Round = Schema<"EvaluatedRound">;

const verdicts: Readonly<Record<Round["verdict"], { readonly word: string; readonly tone: Tone }>> = {
  counts: { word: "Counts", tone: "paid" },
  above_trigger_price: { word: "Above the trigger", tone: "quiet" },
  before_window: { word: "Before the cover", tone: "quiet" },
  after_window: { word: "After its end", tone: "quiet" },
  phase_not_begun: { word: "Not of this feed yet", tone: "quiet" },
  invalid: { word: "No valid price", tone: "fault" },
};

export const sourceOf = ({ productId, policyId }: Evaluation, limit: number) =>
  api.address("/api/v1/triggers/{productId}/{policyId}", { path: { productId, policyId }, query: { limit } });

/** “12 rounds, 3 at or below 58,500 USD; the lowest at 58,100 USD.” */
function sentenceOf({ rounds, triggerPrice, nextCursor }: Evaluation): string {
  const prices = rounds.flatMap(({ price }) => (price === null ? [] : [BigInt(price)]));
  const [lowest] = prices.sort((a, b) => (a < b ? -1 : 1));
  if (lowest === undefined) return "The feed has given no price in the policy’s time.";
  const counting = rounds.filter(({ verdict }) => verdict === "counts").length;
  const trigger =
    triggerPrice === null
      ? ""
      : `, ${counting} of them at or below ${amountWithUnit(triggerPrice, "price", { least: 0 })} within the cover`;
  const which = nextCursor === null ? "" : "The newest ";
  return `${which}${counted(rounds.length, "round", "rounds")}${trigger}; the lowest at ${amountWithUnit(lowest, "price", { least: 0 })}.`;
}

/** The feed's price over the policy's time, over the price at purchase and the one that pays. */
export function EvaluationPlot({ evaluation, limit }: { evaluation: Evaluation; limit: number }) {
  const points = useMemo(
    () =>
      evaluation.rounds
        .flatMap(({ updatedAt, price }) => (price === null ? [] : [{ at: Number(updatedAt), value: price }]))
        .reverse(),
    [evaluation],
  );
  const levels = useMemo(() => {
    const { strikePrice, triggerPrice } = evaluation;
    const both = [
      { value: strikePrice, label: "Reference" },
      { value: triggerPrice, label: "Trigger" },
    ];
    return both.flatMap(({ value, label }): Level[] => (value === null ? [] : [{ value, label }]));
  }, [evaluation]);
  const { productName, policyId } = evaluation;
  return (
    <div class="plots">
      <div class="wide">
        <Plot
          title={`Price during ${policyLabel(productName, policyId)}`}
          sentence={sentenceOf(evaluation)}
          kind="steps"
          unit="price"
          period="moment"
          points={points}
          levels={levels}
          source={sourceOf(evaluation, limit)}
          empty="The index knows no round of the feed in the policy’s time."
        />
      </div>
    </div>
  );
}

/** Each round of the policy's time with what it is to the policy. */
export function RoundTable({ evaluation, limit }: { evaluation: Evaluation; limit: number }) {
  const { rounds, strikePrice } = evaluation;
  return (
    <Table
      caption="Rounds of the price feed"
      rows={rounds}
      keyOf={({ roundId }) => roundId}
      source={sourceOf(evaluation, limit)}
      empty="No round is known of the policy’s time."
      columns={[
        {
          head: "Round of",
          cell: ({ updatedAt }) => <Moment at={updatedAt} />,
          sortBy: ({ updatedAt }) => Number(updatedAt),
        },
        { head: "Price", unit: "price", amount: ({ price }) => price },
        {
          head: "Below reference",
          numeric: true,
          cell: ({ price }) => {
            const bps = strikePrice === null || price === null ? undefined : fallBps(strikePrice, price);
            return bps === undefined ? "–" : bpsText(bps);
          },
        },
        {
          head: "For the policy",
          cell: ({ verdict }) => <Word tone={verdicts[verdict].tone}>{verdicts[verdict].word}</Word>,
        },
        { head: "Block", numeric: true, cell: ({ blockNumber }) => blockNumber },
      ]}
    />
  );
}

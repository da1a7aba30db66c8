import type { AnswerTo } from "../../../client/index.ts";
import { together, useRead } from "../../data/use-read.ts";
import { Amount } from "../../parts/amount.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Word } from "../../parts/word.tsx";

/** `23.724792` → `23.7`: how many times the reserve covers what is owed, cut. */
const timesText = (ratio: string): string => ratio.slice(0, ratio.indexOf(".") + 2);

/** Whether the reserve covers what is owed. */
function Cover({ vault: { solvency_ratio, obligations_usd } }: { vault: AnswerTo<"/api/v1/stats/vault"> }) {
  if (obligations_usd === "0") return <>nothing is owed</>;
  if (solvency_ratio === null) return <>the token has no price, so nobody knows the reserve’s worth</>;
  if (solvency_ratio.startsWith("0."))
    return (
      <>
        the reserve <Word tone="fault">does not cover</Word> them
      </>
    );
  return <>the reserve is worth {timesText(solvency_ratio)} times both</>;
}

/** “15,883 USD of bonds are in circulation and 66,000 USD wait in the queue; the reserve is worth 23.7 times both.” */
export function BondsSentence() {
  const read = together({
    maturities: useRead("/api/v1/stats/bonds/maturities"),
    vault: useRead("/api/v1/stats/vault"),
  });
  return (
    <Shown read={read}>
      {({ maturities: { total, epochs }, vault }) =>
        epochs.length === 0 ? (
          <>No bond exists yet. Each policy that is paid creates some.</>
        ) : (
          <>
            <Amount value={total.outstanding_usd} unit="dollars" /> of bonds are in circulation and{" "}
            <Amount value={total.queued_usd} unit="dollars" /> wait in the queue; <Cover vault={vault} />.
          </>
        )
      }
    </Shown>
  );
}

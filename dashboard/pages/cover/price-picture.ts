/** What the plot of a price is drawn from. */
import type { AnswerTo, Schema } from "../../../client/index.ts";
import { policyLabel } from "../../format/names.ts";
import type { Level, Point } from "../../plot/points.ts";

type History = AnswerTo<"/api/v1/stats/price-history">;

/**
 * The prices of a history, oldest first. The first one held at the range's start, however old it is, and the newest one
 * holds at the start of the last step.
 */
export function pricePoints({
  points,
  from,
  to,
  step_seconds,
}: Pick<History, "points" | "from" | "to" | "step_seconds">): Point[] {
  const start = Number(from);
  const drawn = points.map(({ timestamp, price }) => ({
    at: Math.max(Number(timestamp), start),
    value: price,
  }));
  const last = drawn.at(-1);
  const end = Number(to) - step_seconds;
  return last && last.at < end ? [...drawn, { at: end, value: last.value }] : drawn;
}

/** The triggers of policies, those of the same price as one line: “BTC 24 h, policy 3 and 2 more”. */
export function triggerLevels(
  policies: readonly Pick<Schema<"FoundPolicy">, "productName" | "policyId" | "triggerPrice">[],
): Level[] {
  const byTrigger = new Map<string, { readonly label: string; readonly count: number }>();
  for (const { triggerPrice, productName, policyId } of policies) {
    if (triggerPrice === null) continue;
    const known = byTrigger.get(triggerPrice);
    byTrigger.set(triggerPrice, {
      label: known?.label ?? policyLabel(productName, policyId),
      count: (known?.count ?? 0) + 1,
    });
  }
  return [...byTrigger].map(([value, { label, count }]) => ({
    value,
    label: count === 1 ? label : `${label} and ${count - 1} more`,
  }));
}

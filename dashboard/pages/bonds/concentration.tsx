import { Amount } from "../../parts/amount.tsx";
import { Shares } from "../../parts/shares.tsx";
import type { BondHolders } from "./holders.tsx";

const NEXT = 9;

/** How much the largest holder has, the nine after it, and all others. Nothing where nobody holds bonds. */
export function Concentration({ body: { holders, holders_total, outstanding_usd } }: { body: BondHolders }) {
  const [largest, ...others] = holders.map(({ bonds_usd }) => BigInt(bonds_usd));
  if (largest === undefined) return null;
  const next = others.slice(0, NEXT);
  const nextSum = next.reduce((sum, bonds) => sum + bonds, 0n);
  const rest = BigInt(outstanding_usd) - largest - nextSum;
  const parts = [
    { label: "The largest holder", weight: largest, tone: "accent" as const },
    ...(next.length > 0
      ? [
          {
            label: next.length === 1 ? "The second" : `The next ${next.length}`,
            weight: nextSum,
            tone: "paid" as const,
          },
        ]
      : []),
    ...(holders_total > NEXT + 1
      ? [{ label: `The other ${holders_total - NEXT - 1}`, weight: rest, tone: "quiet" as const }]
      : []),
  ];
  return (
    <Shares
      parts={parts.map((part) => ({ ...part, children: <Amount value={part.weight} unit="dollars" /> }))}
    />
  );
}

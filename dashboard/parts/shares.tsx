import type { ComponentChildren } from "preact";
import { percentText } from "../format/amount.ts";
import type { Tone } from "./word.tsx";

/** A part of a whole: its weight decides its width, `children` have its exact amount. */
export type Share = {
  readonly label: string;
  readonly weight: bigint;
  readonly tone: Tone;
  readonly children: ComponentChildren;
};

/** The least width of a part that is not nothing, in percent: it is seen. */
const LEAST_PERCENT = 0.5;

/** A part in percent, with two digits after the point. */
const percentOf = (part: bigint, whole: bigint): number => Number((part * 10_000n) / whole) / 100;

/** A whole as one bar, and beside it each part's name, amount and percentage. Nothing to divide is an empty bar. */
export function Shares({ parts }: { parts: readonly Share[] }) {
  const whole = parts.reduce((sum, { weight }) => sum + weight, 0n);
  let before = 0n;
  const bars = parts.map(({ label, weight, tone }) => {
    const x = whole === 0n ? 0 : percentOf(before, whole);
    before += weight;
    const width = weight === 0n ? 0 : Math.max(LEAST_PERCENT, percentOf(weight, whole));
    return (
      <rect key={label} class={tone} x={`${Math.min(x, 100 - width)}%`} width={`${width}%`} height="100%" />
    );
  });
  return (
    <div class="shares">
      <svg aria-hidden="true">{bars}</svg>
      <dl>
        {parts.map(({ label, weight, tone, children }) => (
          <div key={label}>
            <dt>
              <span class={`swatch ${tone}`} aria-hidden="true" />
              {label}
            </dt>
            <dd>
              {children}{" "}
              <span class="unit">
                {whole === 0n ? "" : percentText((percentOf(weight, whole) / 100).toFixed(4))}
              </span>
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

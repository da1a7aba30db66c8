/** The times in which the service was down. */
import type { Span } from "../from-chain/payable.ts";

/** The service was down from one second (Unix) to another, both inclusive. */
export type Downtime = { readonly from: bigint; readonly to: bigint };

/** The parts of a span outside all downtime, in rising order. */
export function outside(span: Span, downtime: readonly Downtime[]): Span[] {
  const parts: Span[] = [];
  let notBefore = span.notBefore;
  for (const { from, to } of [...downtime].sort((a, b) => Number(a.from - b.from))) {
    if (from > notBefore && from <= span.notAfter) parts.push({ ...span, notBefore, notAfter: from - 1n });
    else if (from > span.notAfter) break;
    if (to >= notBefore) notBefore = to + 1n;
  }
  if (notBefore <= span.notAfter) parts.push({ ...span, notBefore });
  return parts;
}

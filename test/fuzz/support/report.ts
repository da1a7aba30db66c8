/** Judged answers, and their faults in words. */
import type { OpenApi } from "../../support/openapi.ts";
import { judge } from "./judge.ts";
import { asCurl, type Sent } from "./send.ts";

export type Judged = Sent & { readonly faults: readonly string[] };

export const judged = (document: OpenApi, sent: Sent): Judged => ({
  ...sent,
  faults: judge(document, sent.planned, sent.answer),
});

/** For keeping: thousands of bodies do not fit into the memory of a test, and only those of faulty answers are read again. */
export const forReport = (sent: Judged): Judged =>
  sent.faults.length > 0 ? sent : { ...sent, answer: { ...sent.answer, json: undefined, text: "" } };

/** Answers with the same first fault, whatever its values. */
const kindOf = ({ faults }: Judged): string => (faults[0] ?? "").replace(/\d+/g, "0").slice(0, 60);

function explain(apiUrl: string, { planned, answer, faults }: Judged, count: number): string {
  const { status, headers, text } = answer;
  return [
    `${planned.operation.operationId}, ${planned.about} (expected: ${JSON.stringify(planned.expected)})`,
    ...faults.map((fault) => `  FAULT ${fault}`),
    ...(count > 1 ? [`  and ${count - 1} more of this kind`] : []),
    `  ${asCurl(apiUrl, planned)}`,
    ...[`${status}`, ...[...headers].map((header) => header.join(": ")), text.slice(0, 600)].map(
      (line) => `    ${line}`,
    ),
  ].join("\n");
}

/** The faulty answers in words, the first of each kind: empty when there is none. */
export function report(apiUrl: string, answers: readonly Judged[]): string {
  const kinds = new Map<string, [Judged, ...Judged[]]>();
  for (const sent of answers.filter(({ faults }) => faults.length > 0)) {
    const same = kinds.get(kindOf(sent));
    if (same) same.push(sent);
    else kinds.set(kindOf(sent), [sent]);
  }
  return [...kinds.values()].map((same) => explain(apiUrl, same[0], same.length)).join("\n\n");
}

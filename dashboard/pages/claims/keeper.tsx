import type { AnswerTo, Schema } from "../../../client/index.ts";
import { useRead } from "../../data/use-read.ts";
import { counted, whole } from "../../format/amount.ts";
import { Section } from "../../parts/head.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Table } from "../../parts/table.tsx";
import { type Tone, Word } from "../../parts/word.tsx";

type Audit = AnswerTo<"/api/v1/stats/keeper">;
type Result = Schema<"KeeperAuditResult">;

const results: Readonly<Record<Result["result"], { readonly word: string; readonly tone: Tone }>> = {
  missed: { word: "Missed", tone: "fault" },
  missed_while_down: { word: "Missed without a keeper", tone: "fault" },
  missed_contract: { word: "Missed by a contract", tone: "risk" },
  refused: { word: "Refused by the contracts", tone: "risk" },
  never_payable: { word: "Never payable", tone: "quiet" },
};
const meanings: Readonly<Record<Exclude<Result["result"], "never_payable">, string>> = {
  missed: "Three observations could have been made, and the policy was not paid",
  missed_while_down: "The same, while no keeper of this service was at work",
  missed_contract: "The same, and the buyer is a contract, whose code may have refused the bonds",
  refused: "The contracts refused the payout, for a reason that the audit does not know",
};
const reasons: Readonly<Record<NonNullable<Result["reason"]>, string>> = {
  price_oracle: "The token had no price",
  capacity: "The bond did not fit into the vault’s capacity",
  receiver: "The buyer is a contract that took no bond",
  no_way: "The keeper contract was paused, or not the keeper of the policy’s shield",
  sequencer_down: "The chain’s sequencer was down, or back for less than an hour",
};

const meaningOf = ({ result, reason }: Result): string =>
  result === "never_payable" ? (reason === null ? "" : reasons[reason]) : meanings[result];

/** “Up to block 1,234, every policy was paid that could be; 2 fell far enough and could not be paid.” */
function sentenceOf({ audited_to, results: found }: Audit): string {
  if (audited_to === null) return "No keeper of this service has been at work, so nothing was audited.";
  const sum = (wanted: (result: Result["result"]) => boolean) =>
    found.reduce((total, { result, policies }) => total + (wanted(result) ? policies : 0), 0);
  const missed = sum((result) => result === "missed" || result === "missed_while_down");
  const never = sum((result) => result === "never_payable");
  const paid =
    missed === 0
      ? "every policy was paid that could be"
      : `${counted(missed, "policy", "policies")} could have been paid and ${missed === 1 ? "was" : "were"} not`;
  const rest =
    never === 0 ? "" : `; ${counted(never, "policy", "policies")} fell far enough and could not be paid`;
  return `Up to block ${whole(audited_to)}, ${paid}${rest}.`;
}

const Found = ({ result: { result, policies } }: { result: Result }) => (
  <Word tone={policies === 0 ? "quiet" : results[result].tone}>{results[result].word}</Word>
);

/** Was every policy paid that could be? By the chain alone, from the first keeper of this service on. */
export function KeeperAudit() {
  const read = useRead("/api/v1/stats/keeper");
  return (
    <Shown read={read} height={16}>
      {(audit) => (
        <Section title="The keeper’s audit" sentence={sentenceOf(audit)}>
          <Table
            caption="Results of the keeper’s audit"
            rows={audit.results}
            keyOf={({ result, reason }) => `${result} ${reason}`}
            source="/api/v1/stats/keeper"
            empty="The audit begins with the first keeper."
            columns={[
              { head: "Result", cell: (result) => <Found result={result} /> },
              { head: "Policies", unit: "count", amount: ({ policies }) => policies },
              { head: "Meaning", cell: meaningOf },
            ]}
          />
        </Section>
      )}
    </Shown>
  );
}

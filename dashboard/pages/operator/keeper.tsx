import type { Schema } from "../../../client/index.ts";
import { timestampSeconds } from "../../format/day.ts";
import { duration } from "../../format/time.ts";
import { Hash } from "../../parts/address.tsx";
import { Section } from "../../parts/head.tsx";
import { Table } from "../../parts/table.tsx";
import { Moment } from "../../parts/time.tsx";
import { Word } from "../../parts/word.tsx";

type KeeperReport = NonNullable<Schema<"Ledger">["keeper"]>;

const tasks: Readonly<Record<KeeperReport["failedTasks"][number]["purpose"], string>> = {
  trigger: "pay a due policy",
  expire: "close an expired policy",
  queue: "pay a queued redemption",
};

const FailedTasks = ({ failedTasks }: Pick<KeeperReport, "failedTasks">) => (
  <Table
    caption="Work of the keeper that has failed"
    rows={failedTasks}
    keyOf={({ chainId, purpose, productId, policyId }) => `${chainId} ${purpose} ${productId} ${policyId}`}
    empty="None of the keeper’s work has failed."
    columns={[
      { head: "Chain", numeric: true, cell: ({ chainId }) => chainId },
      { head: "Task", cell: ({ purpose }) => tasks[purpose] },
      { head: "Product", cell: ({ productId }) => (productId === null ? "–" : <Hash of={productId} />) },
      { head: "Policy or entry", unit: "count", amount: ({ policyId }) => policyId },
      { head: "Failures in a row", unit: "count", amount: ({ failures }) => failures },
      { head: "Why", cell: ({ failure }) => <div class="wrap">{failure}</div> },
      {
        head: "Next try",
        cell: ({ nextTrySeconds }) => (nextTrySeconds <= 0 ? "at once" : `in ${duration(nextTrySeconds)}`),
      },
    ]}
  />
);

const Absences = ({ absences }: Pick<KeeperReport, "absences">) => (
  <Table
    caption="Times without a keeper"
    rows={absences}
    keyOf={({ chainId, from }) => `${chainId} ${from}`}
    empty="A keeper was always at work since its first start."
    columns={[
      { head: "Chain", numeric: true, cell: ({ chainId }) => chainId },
      { head: "From", cell: ({ from }) => <Moment at={timestampSeconds(from)} /> },
      {
        head: "To",
        cell: ({ to }) =>
          to === null ? <Word tone="fault">still away</Word> : <Moment at={timestampSeconds(to)} />,
      },
    ]}
  />
);

/** What the keeper could not do, and when none was at work. */
export const Keeper = ({ ledger: { keeper } }: { ledger: Schema<"Ledger"> }) => (
  <Section
    title="Keeper"
    sentence={keeper === null ? "No keeper was ever at work." : "Failed work is tried again by itself."}
  >
    {keeper && (
      <>
        <FailedTasks failedTasks={keeper.failedTasks} />
        <Absences absences={keeper.absences} />
      </>
    )}
  </Section>
);

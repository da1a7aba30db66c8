import type { AnswerTo } from "../../../client/index.ts";
import { bpsText } from "../../format/amount.ts";
import { Hash } from "../../parts/address.tsx";
import { Table } from "../../parts/table.tsx";
import { Moment } from "../../parts/time.tsx";
import { Word } from "../../parts/word.tsx";
import { sourceOf } from "./rounds.tsx";

type Evaluation = AnswerTo<"/api/v1/triggers/{productId}/{policyId}">;

/** The observations of a policy's price, and what reset them. */
export function ObservationTable({ evaluation, limit }: { evaluation: Evaluation; limit: number }) {
  return (
    <Table
      caption="Observations"
      rows={evaluation.observations}
      keyOf={({ blockNumber, logIndex }) => `${blockNumber} ${logIndex}`}
      source={sourceOf(evaluation, limit)}
      empty="Nobody has observed a price for the policy."
      columns={[
        {
          head: "Observed",
          cell: ({ blockTimestamp }) => <Moment at={blockTimestamp} />,
          sortBy: ({ blockTimestamp }) => Number(blockTimestamp),
        },
        {
          head: "Count",
          cell: ({ count }) =>
            count === 0 ? <Word tone="quiet">Reset</Word> : <Word tone="paid">{`${count} of 3`}</Word>,
        },
        { head: "Below reference", numeric: true, cell: ({ dropBps }) => bpsText(Number(dropBps)) },
        { head: "Transaction", cell: ({ txHash }) => <Hash of={txHash} explorer={null} /> },
      ]}
    />
  );
}

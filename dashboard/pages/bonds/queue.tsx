import type { AnswerTo } from "../../../client/index.ts";
import { useRead } from "../../data/use-read.ts";
import { amountWithUnit } from "../../format/amount.ts";
import { localDay } from "../../format/time.ts";
import { Address } from "../../parts/address.tsx";
import { Section } from "../../parts/head.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Table } from "../../parts/table.tsx";
import { Moment } from "../../parts/time.tsx";

type RedemptionQueue = AnswerTo<"/api/v1/stats/queue">;

/** “Until 30 Nov 2026 the vault may pay 1,080.00 PCT more.” */
const sentenceOf = ({ throttle }: RedemptionQueue): string =>
  `Until ${localDay(throttle.ends_at)} the vault may pay ${amountWithUnit(throttle.left_token, "token", { digits: 2 })} more, of ${amountWithUnit(throttle.limit_token, "token", { digits: 2 })} a week.`;

/** The redemptions that wait for the throttle, first come first paid. */
export function Queue() {
  const read = useRead("/api/v1/stats/queue");
  return (
    <Shown read={read} height={16}>
      {(queue) => (
        <Section title="Redemption queue" sentence={sentenceOf(queue)}>
          <Table
            caption="Redemptions that wait"
            rows={queue.entries}
            keyOf={({ queue_id }) => queue_id}
            source="/api/v1/stats/queue"
            empty="No redemption waits: what holders redeem is paid at once."
            columns={[
              { head: "Place", unit: "count", amount: ({ queue_id }) => queue_id },
              { head: "Holder", cell: ({ holder }) => <Address of={holder} /> },
              { head: "Bonds", unit: "dollars", amount: ({ usd_amount }) => usd_amount },
              { head: "Ahead of it", unit: "dollars", amount: ({ ahead_usd }) => ahead_usd },
              { head: "Payable from", cell: ({ payable_from }) => <Moment at={payable_from} day /> },
              {
                head: "Expected",
                cell: ({ expected_from }) =>
                  expected_from === null ? (
                    <span title="The token has no price, or the reserve does not suffice.">–</span>
                  ) : (
                    <Moment at={expected_from} day />
                  ),
              },
            ]}
          />
        </Section>
      )}
    </Shown>
  );
}

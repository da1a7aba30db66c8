import type { AnswerTo } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useRead } from "../../data/use-read.ts";
import { epochName } from "../../format/epoch.ts";
import { Address } from "../../parts/address.tsx";
import { Section } from "../../parts/head.tsx";
import { cursorInView, PageLinks } from "../../parts/page-links.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Table } from "../../parts/table.tsx";
import { Countdown, Moment } from "../../parts/time.tsx";
import { QueueSentence, Throttle } from "./throttle.tsx";

export type RedemptionQueue = AnswerTo<"/api/v1/stats/queue">;

const LIMIT = 25;
/** Where the cursor is in the address. */
const CURSOR = "queued-after";

const UNPAYABLE = "Not expected: it does not fit into its week, or the token has no price.";
const STRANDED = "Its week is over: the vault pays it no more.";

const QueueTable = ({ queue, source }: { queue: RedemptionQueue; source: string }) => (
  <Table
    caption="Redemptions that wait"
    rows={queue.entries}
    keyOf={({ queue_id }) => queue_id}
    source={source}
    empty="No redemption waits: what holders redeem is paid at once, as long as the week’s limit lasts."
    columns={[
      { head: "Entry", unit: "count", amount: ({ queue_id }) => queue_id },
      { head: "Holder", cell: ({ holder }) => <Address of={holder} /> },
      { head: "Bonds of", cell: ({ epoch_id }) => epochName(epoch_id) },
      { head: "Amount", unit: "dollars", amount: ({ usd_amount }) => usd_amount },
      { head: "Ahead of it", unit: "dollars", amount: ({ ahead_usd }) => ahead_usd },
      { head: "Queued", cell: ({ block_timestamp }) => <Moment at={block_timestamp} day /> },
      {
        head: "Expected from",
        cell: ({ expected_from }) =>
          expected_from === null ? <span title={UNPAYABLE}>–</span> : <Moment at={expected_from} day />,
      },
      {
        head: "Wait",
        cell: ({ status, expected_from }) =>
          status === "stranded" ? (
            <span title={STRANDED}>stranded</span>
          ) : expected_from === null ? (
            <span title={UNPAYABLE}>not expected</span>
          ) : (
            <Countdown at={expected_from} over="this week" />
          ),
      },
    ]}
  />
);

/** The redemptions that wait, and the week's limit that they wait for. */
export function Queue() {
  const cursor = cursorInView(CURSOR);
  const query = { limit: LIMIT, ...(cursor === undefined ? {} : { cursor }) };
  const read = useRead("/api/v1/stats/queue", { query });
  return (
    <Section
      title="Redemption queue"
      sentence="In its week the vault pays an entry if it fits into the week’s limit, and never after it."
    >
      <Shown read={read} height={40}>
        {(queue) => (
          <>
            <p class="lead">
              <QueueSentence queue={queue} />
            </p>
            <Throttle queue={queue} />
            <QueueTable key={cursor} queue={queue} source={api.address("/api/v1/stats/queue", { query })} />
            <PageLinks name={CURSOR} next={queue.next_cursor} what="redemptions" />
          </>
        )}
      </Shown>
    </Section>
  );
}

import type { AnswerTo, Schema } from "../../../client/index.ts";
import type { Read } from "../../data/reads.ts";
import { whole } from "../../format/amount.ts";
import { timestampSeconds } from "../../format/day.ts";
import { Address } from "../../parts/address.tsx";
import { Section } from "../../parts/head.tsx";
import { cursorInView, PageLinks } from "../../parts/page-links.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Table } from "../../parts/table.tsx";
import { Moment } from "../../parts/time.tsx";
import { Word } from "../../parts/word.tsx";
import { useAdmin } from "./use-admin.ts";

/** Where the cursor is in the address. */
const CURSOR = "webhooks-after";
/** From here on the API does not count. */
const MOST_COUNTED = 10_000;

const Optional = ({ at }: { at: string | null }) =>
  at === null ? <>–</> : <Moment at={timestampSeconds(at)} />;

const LateTable = ({ webhooks }: { webhooks: readonly Schema<"LateWebhook">[] }) => (
  <Table
    caption="Webhooks that are behind"
    rows={webhooks}
    keyOf={({ id }) => String(id)}
    empty="No webhook is behind."
    columns={[
      { head: "Webhook", numeric: true, cell: ({ id }) => id },
      { head: "Chain", numeric: true, cell: ({ chainId }) => chainId },
      { head: "Wallet", cell: ({ wallet }) => <Address of={wallet} /> },
      { head: "Host", cell: ({ host }) => host },
      {
        head: "State",
        cell: ({ state }) =>
          state === "undeliverable" ? (
            <Word tone="fault">Undeliverable</Word>
          ) : (
            <Word tone="risk">Behind</Word>
          ),
      },
      {
        head: "Undelivered",
        numeric: true,
        cell: ({ undelivered }) =>
          undelivered < MOST_COUNTED ? whole(undelivered) : `${whole(undelivered)} or more`,
        sortBy: ({ undelivered }) => undelivered,
      },
      { head: "Failures", numeric: true, cell: ({ failures }) => failures ?? "–" },
      { head: "Oldest from", cell: ({ oldestPendingAt }) => <Optional at={oldestPendingAt} /> },
      { head: "Next try", cell: ({ nextAttemptAt }) => <Optional at={nextAttemptAt} /> },
      { head: "Given up", cell: ({ undeliverableSince }) => <Optional at={undeliverableSince} /> },
    ]}
  />
);

/** Webhooks whose deliveries are not made. */
export function Webhooks({ first }: { first: Read<AnswerTo<"/api/v1/admin/webhooks">> }) {
  const cursor = cursorInView(CURSOR);
  const other = useAdmin(cursor === undefined ? undefined : `webhooks ${cursor}`, (admin) =>
    admin.get("/api/v1/admin/webhooks", { query: { cursor } }),
  );
  const read = cursor === undefined ? first : other;
  return (
    <Section
      title="Webhooks"
      sentence="An undeliverable webhook gets nothing more until its owner calls POST …/retry."
    >
      <Shown read={read} height={16}>
        {({ webhooks, nextCursor }) => (
          <>
            <LateTable key={cursor} webhooks={webhooks} />
            <PageLinks name={CURSOR} next={nextCursor} what="webhooks" />
          </>
        )}
      </Shown>
    </Section>
  );
}

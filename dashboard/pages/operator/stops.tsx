import { useState } from "preact/hooks";
import type { AnswerTo, Schema } from "../../../client/index.ts";
import type { Read } from "../../data/reads.ts";
import { timestampSeconds } from "../../format/day.ts";
import { Address, Copy } from "../../parts/address.tsx";
import { Section } from "../../parts/head.tsx";
import { cursorInView, PageLinks } from "../../parts/page-links.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Table } from "../../parts/table.tsx";
import { Moment } from "../../parts/time.tsx";
import { Word } from "../../parts/word.tsx";
import { ConfirmStop } from "./confirm-stop.tsx";
import { StopForm } from "./stop-form.tsx";
import { consequencesOf } from "./stop-target.ts";
import { bodyOf, useAdmin } from "./use-admin.ts";
import { useStop } from "./use-stop.ts";

type Stop = Schema<"StopInForce">;

/** Where the cursor is in the address. */
const CURSOR = "stops-after";

function Target({ stop: { scope, wallet, keyId } }: { stop: Stop }) {
  if (scope === "global") return <Word tone="fault">Everything</Word>;
  if (scope === "keeper") return <Word tone="risk">The keeper</Word>;
  return wallet === null ? <>Key {keyId}</> : <Address of={wallet} />;
}

const StopTable = ({ stops }: { stops: readonly Stop[] }) => (
  <Table
    caption="Stops in force"
    rows={stops}
    keyOf={({ scope, wallet, keyId }) => `${scope} ${wallet} ${keyId}`}
    empty="Nothing is stopped."
    columns={[
      { head: "Stopped", cell: (stop) => <Target stop={stop} /> },
      { head: "Since", cell: ({ since }) => <Moment at={timestampSeconds(since)} /> },
      { head: "Why", cell: ({ reason }) => <div class="wrap">{reason}</div> },
      { head: "Set by", cell: ({ setBy }) => (setBy === "api" ? "API" : setBy) },
      {
        head: "Resume on the server",
        cell: ({ resume }) => (
          <span class="hex">
            <code>{resume}</code>
            <Copy text={resume} what="command" />
          </span>
        ),
      },
    ]}
  />
);

/** Pages of what is stopped. */
function StopPages({ first }: { first: Read<AnswerTo<"/api/v1/admin/stops">> }) {
  const cursor = cursorInView(CURSOR);
  const other = useAdmin(cursor === undefined ? undefined : `stops ${cursor}`, (admin) =>
    admin.get("/api/v1/admin/stops", { query: { cursor } }),
  );
  const read = cursor === undefined ? first : other;
  return (
    <Shown read={read} height={4}>
      {({ stops, nextCursor }) => (
        <>
          <StopTable key={cursor} stops={stops} />
          <PageLinks name={CURSOR} next={nextCursor} what="stops" />
        </>
      )}
    </Shown>
  );
}

/** What is stopped; and the page's one write, which stops more. */
export function Stops({
  stops,
  ledger,
}: {
  stops: Read<AnswerTo<"/api/v1/admin/stops">>;
  ledger: Read<Schema<"Ledger">>;
}) {
  const { asked, said, ask, confirm, leave } = useStop();
  // A second question is another dialog.
  const [questions, setQuestions] = useState(0);
  return (
    <Section
      title="Stops"
      sentence="This page stops, and never resumes: that takes npm run ledger on the server, with the command beside each stop."
    >
      <StopPages first={stops} />
      <StopForm
        onAsked={(target, reason) => {
          setQuestions(questions + 1);
          ask(target, reason);
        }}
      />
      <p role="status">{said}</p>
      {asked && (
        <ConfirmStop
          key={questions}
          asked={asked}
          consequences={consequencesOf(asked.target, bodyOf(ledger)?.wallets ?? [])}
          onConfirmed={confirm}
          onClosed={() => leave(asked)}
        />
      )}
    </Section>
  );
}

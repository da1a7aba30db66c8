import type { AnswerTo } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useRead } from "../../data/use-read.ts";
import { duration } from "../../format/time.ts";
import { Section } from "../../parts/head.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Table } from "../../parts/table.tsx";
import { Moment } from "../../parts/time.tsx";
import { Word } from "../../parts/word.tsx";

const query = { limit: 10 };

type Pauses = AnswerTo<"/api/v1/stats/pauses">;

/** What each pause stops. */
const scopes: Readonly<Record<Pauses["pauses"][number]["scope"], string>> = {
  global: "Sales, of the whole protocol",
  router: "Sales, by the owner",
  auto: "Sales, by the token’s price",
  sequencer: "Sales and triggers, by an outage of the chain",
};

/** What is stopped now. */
function sentenceOf({ state, sequencer }: Pauses): string {
  const sequencerFault = sequencer && !sequencer.accepted;
  if (sequencerFault)
    return "The chain’s sequencer is down, or came back within the last hour: no sale, no trigger.";
  if (state.global.paused || state.router.paused || state.auto.paused)
    return "Sales are paused; sold policies are paid.";
  return "Nothing is paused now.";
}

/** Pauses of the protocol, and the chain's sequencer. */
export function Pauses() {
  const read = useRead("/api/v1/stats/pauses", { query });
  return (
    <Shown read={read} height={40}>
      {(body) => (
        <Section title="Pauses" sentence={sentenceOf(body)}>
          <Table
            caption="Pauses"
            rows={body.pauses}
            keyOf={({ tx_hash, log_index }) => `${tx_hash} ${log_index}`}
            source={api.address("/api/v1/stats/pauses", { query })}
            empty="There was never a pause, nor an outage."
            columns={[
              { head: "Stops", cell: ({ scope }) => scopes[scope] },
              { head: "From", cell: ({ started_at }) => <Moment at={started_at} /> },
              {
                head: "To",
                cell: ({ ended_at }) =>
                  ended_at === null ? <Word tone="risk">until now</Word> : <Moment at={ended_at} />,
              },
              {
                head: "For",
                numeric: true,
                cell: ({ duration_seconds }) => duration(Number(duration_seconds)),
                sortBy: ({ duration_seconds }) => Number(duration_seconds),
              },
            ]}
          />
        </Section>
      )}
    </Shown>
  );
}

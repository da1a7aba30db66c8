import type { AnswerTo, Schema } from "../../../client/index.ts";
import { counted, whole } from "../../format/amount.ts";
import { duration } from "../../format/time.ts";
import { Figure, Figures } from "../../parts/figures.tsx";
import { Word } from "../../parts/word.tsx";
import { walletFault } from "./wallets.tsx";

type Bodies = {
  readonly stops: AnswerTo<"/api/v1/admin/stops">;
  readonly ledger: Schema<"Ledger">;
  readonly webhooks: AnswerTo<"/api/v1/admin/webhooks">;
};

/** A list's length; “50+” where the API has cut it off. */
const atLeast = (rows: readonly unknown[], limit: number): string =>
  rows.length < limit ? whole(rows.length) : `${whole(rows.length)}+`;

const flightsOf = ({ wallets }: Schema<"Ledger">): number =>
  wallets.reduce((sum, { inFlight }) => sum + inFlight, 0);

/** Seconds; undefined when nothing is in flight. */
function oldestOf({ wallets }: Schema<"Ledger">): number | undefined {
  const ages = wallets.flatMap(({ oldestSeconds }) => (oldestSeconds === null ? [] : [oldestSeconds]));
  return ages.length === 0 ? undefined : Math.max(...ages);
}

function StopsInForce({ stops: { stops, nextCursor } }: Pick<Bodies, "stops">) {
  if (stops.some(({ scope }) => scope === "global")) return <Word tone="fault">Everything is stopped</Word>;
  if (stops.length === 0) return <>Nothing is stopped</>;
  if (nextCursor !== null) return <Word tone="risk">More than {whole(stops.length)} stops are in force</Word>;
  return <Word tone="risk">{counted(stops.length, "stop is in force", "stops are in force")}</Word>;
}

/** What somebody has to look after, in words. */
function troublesOf({ ledger, webhooks }: Bodies): string[] {
  const counts: readonly (readonly [count: number, one: string, many: string])[] = [
    [
      ledger.wallets.filter((wallet) => walletFault(wallet)).length,
      "wallet cannot send",
      "wallets cannot send",
    ],
    [ledger.nonceGaps.length, "nonce is missing", "nonces are missing"],
    [
      ledger.keeper?.failedTasks.length ?? 0,
      "task of the keeper has failed",
      "tasks of the keeper have failed",
    ],
    [webhooks.backlog.undeliverable, "webhook is undeliverable", "webhooks are undeliverable"],
  ];
  return counts.flatMap(([count, one, many]) => (count === 0 ? [] : [counted(count, one, many)]));
}

/** “Nothing is stopped; 3 transactions are in flight, the oldest for 12 s; 1 webhook is undeliverable.” */
export function OperatorSentence(bodies: Bodies) {
  const flights = flightsOf(bodies.ledger);
  const oldest = oldestOf(bodies.ledger);
  const troubles = troublesOf(bodies);
  return (
    <>
      <StopsInForce stops={bodies.stops} />;{" "}
      {flights === 0
        ? "no transaction is in flight"
        : counted(flights, "transaction is in flight", "transactions are in flight")}
      {oldest !== undefined && `, the oldest for ${duration(oldest)}`}
      {troubles.length === 0 ? ". Nothing needs a hand." : `; ${troubles.join(", ")}.`}
    </>
  );
}

/** The operator's figures at a glance. */
export function OperatorFigures({ stops, ledger, webhooks: { backlog } }: Bodies) {
  const oldest = oldestOf(ledger);
  return (
    <Figures>
      <Figure label="Stops" note="in force">
        {stops.nextCursor === null ? whole(stops.count) : `${whole(stops.count)}+`}
      </Figure>
      <Figure label="In flight" note={oldest === undefined ? "transactions" : `oldest ${duration(oldest)}`}>
        {whole(flightsOf(ledger))}
      </Figure>
      <Figure label="Waiting" note="accepted, without a nonce">
        {whole(ledger.waitingTotal)}
      </Figure>
      <Figure label="Missing nonces" note="below transactions in flight">
        {atLeast(ledger.nonceGaps, ledger.limit)}
      </Figure>
      <Figure
        label="Deliveries to make"
        note={
          backlog.oldestDueSeconds === null
            ? "none is due"
            : `due since ${duration(backlog.oldestDueSeconds)}`
        }
      >
        {whole(backlog.pending)}
      </Figure>
      <Figure label="Undeliverable" note="webhooks">
        {whole(backlog.undeliverable)}
      </Figure>
    </Figures>
  );
}

import type { Schema } from "../../../client/index.ts";
import { choice } from "../../data/place.ts";
import type { Read } from "../../data/reads.ts";
import { duration } from "../../format/time.ts";
import { Address } from "../../parts/address.tsx";
import { Choices } from "../../parts/choices.tsx";
import { Section } from "../../parts/head.tsx";
import { cursorInView, PageLinks } from "../../parts/page-links.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Table } from "../../parts/table.tsx";
import { Word } from "../../parts/word.tsx";
import { entryText } from "./entry.ts";
import { useAdmin } from "./use-admin.ts";

/** In flight for this long counts as stuck, in seconds, as in `npm run ledger`. */
const STUCK_SECONDS = 60;
/** Where age and cursor are in the address. */
const AGE = "age";
const CURSOR = "flights-after";

type Ledger = Schema<"Ledger">;
type Flight = Schema<"LedgerFlight">;

/** What nodes have of a transaction. */
const states: Readonly<Record<NonNullable<Flight["state"]>, string>> = {
  accepted: "has a nonce",
  signed: "signed, no node took it",
  broadcast: "at a node",
};

const FlightState = ({ state, kind, cancels }: Flight) => (
  <>
    {state === null ? kind : states[state]}
    {cancels && (
      <>
        , <Word tone="risk">being cancelled</Word>
      </>
    )}
  </>
);

const FlightTable = ({ flights, empty }: { flights: readonly Flight[]; empty: string }) => (
  <Table
    caption="Transactions in flight"
    rows={flights}
    keyOf={({ chainId, wallet, nonce }) => `${chainId} ${wallet} ${nonce}`}
    empty={empty}
    columns={[
      { head: "Chain", numeric: true, cell: ({ chainId }) => chainId },
      { head: "Wallet", cell: ({ wallet }) => <Address of={wallet} /> },
      { head: "Nonce", unit: "count", amount: ({ nonce }) => nonce },
      { head: "State", cell: (flight) => <FlightState {...flight} /> },
      {
        head: "Age",
        numeric: true,
        cell: ({ ageSeconds }) =>
          ageSeconds < STUCK_SECONDS ? duration(ageSeconds) : <Word tone="risk">{duration(ageSeconds)}</Word>,
        sortBy: ({ ageSeconds }) => ageSeconds,
      },
      { head: "Forms", unit: "count", amount: ({ attempts }) => attempts },
      { head: "Most per gas", unit: "gwei", amount: ({ maxFeePerGas }) => maxFeePerGas },
      { head: "Tip per gas", unit: "gwei", amount: ({ maxPriorityFeePerGas }) => maxPriorityFeePerGas },
      {
        head: "Last sent",
        numeric: true,
        cell: ({ lastSentSeconds }) =>
          lastSentSeconds === null ? "never" : `${duration(lastSentSeconds)} ago`,
      },
      {
        head: "Entry",
        cell: ({ kind, id, purpose }) => entryText(id, kind === "permit" ? "permit of" : purpose),
      },
    ]}
  />
);

/** Pages of them; the first one is part of the ledger that the page has read. */
function FlightPages({ ledger, stuck }: { ledger: Read<Ledger>; stuck: boolean }) {
  const cursor = cursorInView(CURSOR);
  const query = { minAge: stuck ? STUCK_SECONDS : 0, cursor };
  const isFirst = !stuck && cursor === undefined;
  const other = useAdmin(isFirst ? undefined : `flights ${query.minAge} ${cursor}`, (admin) =>
    admin.get("/api/v1/admin/ledger", { query }),
  );
  const read = isFirst ? ledger : other;
  return (
    <Shown read={read} height={16}>
      {({ inFlight, nextCursor }) => (
        <>
          <FlightTable
            key={`${stuck} ${cursor}`}
            flights={inFlight}
            empty={stuck ? "No transaction is in flight for a minute." : "No transaction is in flight."}
          />
          <PageLinks name={CURSOR} next={nextCursor} what="transactions" />
        </>
      )}
    </Shown>
  );
}

/** The transactions that may still be mined, the oldest first. */
export function Flights({ ledger }: { ledger: Read<Ledger> }) {
  const age = choice(AGE, ["all", "stuck"]);
  return (
    <Section
      title="In flight"
      sentence="Transactions with a nonce that are in no block, the oldest first. On the server, npm run ledger -- show and an entry’s id print all about it."
      controls={
        <Choices
          name={AGE}
          label="Age"
          chosen={age}
          resets={CURSOR}
          options={[
            { value: "all", label: "All" },
            { value: "stuck", label: "Older than a minute" },
          ]}
        />
      }
    >
      <FlightPages ledger={ledger} stuck={age === "stuck"} />
    </Section>
  );
}

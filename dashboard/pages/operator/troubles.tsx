import type { Schema } from "../../../client/index.ts";
import { timestampSeconds } from "../../format/day.ts";
import { duration } from "../../format/time.ts";
import { Address, Hash } from "../../parts/address.tsx";
import { Section } from "../../parts/head.tsx";
import { Table } from "../../parts/table.tsx";
import { Moment } from "../../parts/time.tsx";
import { entryText } from "./entry.ts";

type Ledger = Schema<"Ledger">;

const Waiting = ({ waiting }: { waiting: Ledger["waiting"] }) => (
  <Section title="Waiting" sentence="Accepted, and without a nonce; the oldest first.">
    <Table
      caption="What waits"
      rows={waiting}
      keyOf={({ id }) => id}
      empty="Nothing waits."
      columns={[
        { head: "Chain", numeric: true, cell: ({ chainId }) => chainId },
        { head: "Entry", cell: ({ id, purpose }) => entryText(id, purpose) },
        { head: "Key", cell: ({ keyId }) => keyId ?? "–" },
        { head: "Wallet", cell: ({ wallet }) => <Address of={wallet} /> },
        { head: "Age", numeric: true, cell: ({ ageSeconds }) => duration(ageSeconds) },
      ]}
    />
  </Section>
);

const Gaps = ({ gaps }: { gaps: Ledger["nonceGaps"] }) => (
  <Section
    title="Missing nonces"
    sentence="The ledger lacks them below transactions in flight: another sender used them, or all later transactions wait until the writer fills them."
  >
    <Table
      caption="Nonces that the ledger lacks"
      rows={gaps}
      keyOf={({ chainId, wallet, nonce }) => `${chainId} ${wallet} ${nonce}`}
      empty="No nonce is missing."
      columns={[
        { head: "Chain", numeric: true, cell: ({ chainId }) => chainId },
        { head: "Wallet", cell: ({ wallet }) => <Address of={wallet} /> },
        { head: "Nonce", unit: "count", amount: ({ nonce }) => nonce },
      ]}
    />
  </Section>
);

const Failed = ({ failed }: { failed: Ledger["failed"] }) => (
  <Section title="Failed" sentence="Transactions of the service itself that failed in the last 24 hours.">
    <Table
      caption="Failed transactions of the service"
      rows={failed}
      keyOf={({ id }) => id}
      empty="None has failed."
      columns={[
        { head: "Chain", numeric: true, cell: ({ chainId }) => chainId },
        { head: "Entry", cell: ({ id, purpose }) => entryText(id, purpose) },
        { head: "Failed", numeric: true, cell: ({ ageSeconds }) => `${duration(ageSeconds)} ago` },
        {
          head: "Why",
          cell: ({ code, message }) => (
            <div class="wrap">
              {message} <code>{code}</code>
            </div>
          ),
        },
        {
          head: "Transaction",
          cell: ({ txHash }) => (txHash === null ? "never signed" : <Hash of={txHash} />),
        },
      ]}
    />
  </Section>
);

const Paused = ({ clients }: { clients: Ledger["pausedClients"] }) => (
  <Section
    title="Paused clients"
    sentence="Three of their purchases reverted within an hour: they may buy again by themselves."
  >
    <Table
      caption="Clients that may not buy"
      rows={clients}
      keyOf={({ wallet }) => wallet}
      empty="No client is paused."
      columns={[
        { head: "Wallet", cell: ({ wallet }) => <Address of={wallet} /> },
        { head: "Until", cell: ({ until }) => <Moment at={timestampSeconds(until)} /> },
      ]}
    />
  </Section>
);

/** What is not as it should be in the ledger. */
export const Troubles = ({ ledger }: { ledger: Ledger }) => (
  <>
    <Waiting waiting={ledger.waiting} />
    <Gaps gaps={ledger.nonceGaps} />
    <Failed failed={ledger.failed} />
    <Paused clients={ledger.pausedClients} />
  </>
);

import type { Schema } from "../../../client/index.ts";
import { Address } from "../../parts/address.tsx";
import { Section } from "../../parts/head.tsx";
import { Table } from "../../parts/table.tsx";
import { StopButton } from "./stop-draft.tsx";

type Ledger = Schema<"Ledger">;

/** The day's gas against its budgets. */
export const Gas = ({ ledger: { gas } }: { ledger: Ledger }) => (
  <Section
    title="Gas of this UTC day"
    sentence="A transaction that is in no block counts with its highest possible cost. Above a budget nothing is sent."
  >
    <Table
      caption="Gas and budgets"
      rows={gas}
      keyOf={({ chainId, of }) => `${chainId} ${of}`}
      empty="No writer has taken a wallet yet."
      columns={[
        { head: "Chain", numeric: true, cell: ({ chainId }) => chainId },
        { head: "Wallets", cell: ({ of }) => (of === "keeper" ? "the keeper" : "all others") },
        { head: "Spent", unit: "ether", amount: ({ spent }) => spent },
        { head: "Budget", unit: "ether", amount: ({ budget }) => budget },
        { head: "Of it for one client", unit: "ether", amount: ({ budgetPerClient }) => budgetPerClient },
      ]}
    />
  </Section>
);

const ByWallet = ({ spending }: { spending: Ledger["spendingByWallet"] }) => (
  <Table
    caption="Spent by wallet"
    rows={spending}
    keyOf={({ chainId, wallet }) => `${chainId} ${wallet}`}
    empty="No wallet has spent anything since midnight UTC."
    columns={[
      { head: "Chain", numeric: true, cell: ({ chainId }) => chainId },
      { head: "Role", cell: ({ role }) => role },
      { head: "Wallet", cell: ({ wallet }) => <Address of={wallet} /> },
      { head: "Mined", unit: "count", amount: ({ transactions }) => transactions },
      { head: "Gas", unit: "ether", amount: ({ gas }) => gas },
      { head: "Sent", unit: "ether", amount: ({ sent }) => sent },
    ]}
  />
);

const ByKey = ({ spending }: { spending: Ledger["spendingByKey"] }) => (
  <Table
    caption="Spent by key"
    rows={spending}
    keyOf={({ keyId }) => keyId}
    empty="No purchase of a key was mined since midnight UTC."
    columns={[
      { head: "Key", cell: ({ keyId }) => keyId, sortBy: ({ keyId }) => BigInt(keyId) },
      { head: "Label", cell: ({ label }) => label ?? "–" },
      { head: "Wallet", cell: ({ wallet }) => <Address of={wallet} /> },
      { head: "Mined", unit: "count", amount: ({ purchases }) => purchases },
      { head: "Reverted", unit: "count", amount: ({ reverted }) => reverted },
      { head: "Gas", unit: "ether", amount: ({ gas }) => gas },
      { head: "Premiums", unit: "usdc", amount: ({ premiums }) => premiums },
      {
        head: "Stop",
        cell: ({ keyId }) => (
          <StopButton target={{ scope: "key", keyId: Number(keyId) }} what={`key ${keyId}`} />
        ),
      },
    ]}
  />
);

/** What was spent since midnight UTC, by who paid the gas and by who asked for it. */
export const Spending = ({ ledger }: { ledger: Ledger }) => (
  <Section title="Spent today" sentence="On transactions signed since midnight UTC that are in a block.">
    <ByWallet spending={ledger.spendingByWallet} />
    <ByKey spending={ledger.spendingByKey} />
  </Section>
);

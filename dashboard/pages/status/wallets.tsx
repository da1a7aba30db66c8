import type { Schema } from "../../../client/index.ts";
import { Address } from "../../parts/address.tsx";
import { Section } from "../../parts/head.tsx";
import { Table } from "../../parts/table.tsx";

/** The wallets that pay the gas, and what they have left. */
export const Wallets = ({ health: { relayers, keeper } }: { health: Schema<"Health"> }) => (
  <Section title="Wallets">
    <Table
      caption="Wallets of the service"
      rows={[
        ...relayers.map((wallet) => ({ ...wallet, role: "Relayer" })),
        ...(keeper ? [{ ...keeper, role: "Keeper" }] : []),
      ]}
      keyOf={({ role, address }) => `${role} ${address}`}
      empty="No writer is running, so no wallet sends anything."
      columns={[
        { head: "Role", cell: ({ role }) => role },
        { head: "Wallet", cell: ({ address }) => <Address of={address} /> },
        { head: "Balance", unit: "ether", amount: ({ balanceWei }) => balanceWei },
      ]}
    />
  </Section>
);

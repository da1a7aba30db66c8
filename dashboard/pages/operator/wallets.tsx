import type { Schema } from "../../../client/index.ts";
import { counted } from "../../format/amount.ts";
import { duration } from "../../format/time.ts";
import { Address } from "../../parts/address.tsx";
import { Section } from "../../parts/head.tsx";
import { Table } from "../../parts/table.tsx";
import { Word } from "../../parts/word.tsx";
import { StopButton } from "./stop-draft.tsx";

type Wallet = Schema<"LedgerWallet">;

const stoppedBy = {
  global: "everything is stopped",
  keeper: "the keeper is stopped",
  wallet: "the wallet is stopped",
} as const;

/** Why a wallet does not send as it should, in words; undefined when it does, and when the operator has stopped it. */
export function walletFault({
  stoppedBy: stop,
  fault,
  unknownTransactions,
  abandoned,
}: Wallet): string | undefined {
  if (stop !== null) return undefined;
  if (fault !== null) return fault;
  if (unknownTransactions > 0)
    return `${counted(unknownTransactions, "transaction", "transactions")} on the chain that the ledger lacks: nothing new is signed`;
  if (abandoned) return "transactions are in flight, and no writer holds the wallet";
  return undefined;
}

function WalletState({ wallet }: { wallet: Wallet }) {
  const fault = walletFault(wallet);
  if (wallet.stoppedBy !== null)
    return (
      <>
        <Word tone="risk">Stopped</Word>: {stoppedBy[wallet.stoppedBy]}
      </>
    );
  if (fault !== undefined)
    return (
      <>
        <Word tone="fault">Cannot send</Word>: {fault}
      </>
    );
  return wallet.writer === null ? <Word tone="quiet">No writer</Word> : <Word tone="good">Sends</Word>;
}

/** Every wallet of the service, and whether it can send. */
export const ServiceWallets = ({ wallets }: { wallets: readonly Wallet[] }) => (
  <Section title="Wallets of the service">
    <Table
      caption="Wallets that send"
      rows={wallets}
      keyOf={({ chainId, wallet }) => `${chainId} ${wallet}`}
      empty="No writer has taken a wallet yet."
      columns={[
        { head: "Chain", numeric: true, cell: ({ chainId }) => chainId },
        { head: "Role", cell: ({ role }) => role },
        { head: "Wallet", cell: ({ wallet }) => <Address of={wallet} /> },
        { head: "State", cell: (wallet) => <div class="wrap">{<WalletState wallet={wallet} />}</div> },
        { head: "Next nonce", unit: "count", amount: ({ nextNonce }) => nextNonce },
        { head: "In flight", unit: "count", amount: ({ inFlight }) => inFlight },
        {
          head: "Oldest",
          numeric: true,
          cell: ({ oldestSeconds }) => (oldestSeconds === null ? "–" : duration(oldestSeconds)),
          sortBy: ({ oldestSeconds }) => oldestSeconds ?? -1,
        },
        { head: "Writer", cell: ({ writer }) => writer ?? "none" },
        {
          head: "Stop",
          cell: ({ wallet, role }) => (
            <StopButton target={{ scope: "wallet", wallet }} what={`${role} ${wallet}`} />
          ),
        },
      ]}
    />
  </Section>
);

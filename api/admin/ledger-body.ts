import type { Sql } from "postgres";
import { type Address, getAddress } from "viem";
import type { ReadClient } from "../../lib/chain/client.ts";
import { type GasToday, gasToday } from "../../lib/ledger/gas-day.ts";
import { type WalletLoad, walletLoads } from "../../lib/ledger/in-flight.ts";
import {
  type FlightPosition,
  type FlightReport,
  reportFailedServiceTransactions,
  reportFlights,
  reportGaps,
  reportWaiting,
  type WaitingReport,
} from "../../lib/ledger/report.ts";
import { valueWithin } from "../../lib/timeout.ts";
import { fromDatabase } from "../http/dependency-timeout.ts";
import { decimalOrNull } from "../http/field-types.ts";
import { cutPage } from "../http/paging.ts";
import { type OperatorLedgerBody, SHORT_LIST } from "./ledger-schemas.ts";
import { wholeSeconds, wholeSecondsOrNull } from "./responses.ts";

/** How long the answer waits for the balances, in ms: without them it is worth as much. */
const BALANCES_MS = 2000;

export type LedgerParts = {
  readonly sql: Sql;
  /** The clients of the chains' nodes, by chain id. */
  readonly clients: ReadonlyMap<number, Pick<ReadClient, "getBalance">>;
};

export type LedgerPage = {
  readonly limit: number;
  readonly wallet?: Address | undefined;
  readonly cursor?: FlightPosition | undefined;
};

const decimalOf = (value: number | null): string | null => (value === null ? null : String(value));

function walletBody(load: WalletLoad, balance: bigint | undefined): OperatorLedgerBody["wallets"][number] {
  return {
    chainId: load.chainId,
    address: getAddress(load.wallet),
    role: load.role,
    balanceWei: decimalOrNull(balance ?? null),
    nextNonce: decimalOf(load.nextNonce),
    openFrom: String(load.openFrom),
    finalBelow: String(load.finalBelow),
    inFlight: load.inFlight,
    oldestSeconds: wholeSecondsOrNull(load.oldest),
    writer: load.writer,
    seenAt: load.seenAt?.toISOString() ?? null,
    pausedBecause: load.fault,
    abandoned: load.abandoned,
    unknownTransactions: load.unknown,
    unknownSince: load.unknownSince?.toISOString() ?? null,
  };
}

const gasBody = (gas: GasToday): OperatorLedgerBody["gas"][number] => ({
  chainId: gas.chainId,
  account: gas.account,
  spentWei: String(gas.spent),
  budgetWei: decimalOrNull(gas.budget),
  clientBudgetWei: decimalOrNull(gas.clientBudget),
  budgetStatedAt: gas.statedAt?.toISOString() ?? null,
});

const flightBody = (flight: FlightReport): OperatorLedgerBody["transactions"][number] => ({
  chainId: flight.chainId,
  wallet: getAddress(flight.wallet),
  nonce: String(flight.nonce),
  kind: flight.kind,
  state: flight.state,
  entryId: flight.id,
  purpose: flight.purpose,
  ageSeconds: wholeSeconds(flight.age),
  forms: flight.forms.map(({ hash, cancels, maxFee, priorityFee, sentAgo }) => ({
    hash,
    cancels,
    maxFeePerGasWei: String(maxFee),
    maxPriorityFeePerGasWei: String(priorityFee),
    sentSecondsAgo: wholeSecondsOrNull(sentAgo),
  })),
});

const waitingBody = ({ id, wallet, age, ...entry }: WaitingReport) => ({
  ...entry,
  entryId: id,
  wallet: getAddress(wallet),
  ageSeconds: wholeSeconds(age),
});

/** The balances of wallets, in their order; undefined where the node does not tell in time. */
const readBalances = (clients: LedgerParts["clients"], wallets: readonly WalletLoad[]) =>
  Promise.all(
    wallets.map(async ({ chainId, wallet }) => {
      const client = clients.get(chainId);
      return client && valueWithin(BALANCES_MS, client.getBalance({ address: wallet }));
    }),
  );

/** What `npm run ledger` shows, with a page of the transactions in flight. */
export async function readLedger(
  { sql, clients }: LedgerParts,
  { limit, wallet, cursor }: LedgerPage,
): Promise<OperatorLedgerBody> {
  const [loads, gas, flights, waiting, failed, gaps] = await fromDatabase(() =>
    Promise.all([
      walletLoads(sql),
      gasToday(sql),
      reportFlights(sql, { limit: limit + 1, wallet, after: cursor }),
      reportWaiting(sql, { minAge: 0, limit: SHORT_LIST }),
      reportFailedServiceTransactions(sql, SHORT_LIST),
      reportGaps(sql, SHORT_LIST),
    ]),
  );
  const balances = await readBalances(clients, loads);
  const page = cutPage(flights, limit, ({ openedAt, row }) => `${openedAt}-${row}`);
  return {
    asOf: new Date().toISOString(),
    wallets: loads.map((load, n) => walletBody(load, balances[n])),
    gas: gas.map(gasBody),
    waiting: waiting.map(waitingBody),
    failed: failed.map(({ id, age, hash, ...entry }) => ({
      ...entry,
      entryId: id,
      ageSeconds: wholeSeconds(age),
      txHash: hash,
    })),
    gaps: gaps.map((gap) => ({ ...gap, wallet: getAddress(gap.wallet), nonce: String(gap.nonce) })),
    count: page.rows.length,
    limit,
    nextCursor: page.next,
    transactions: page.rows.map(flightBody),
  };
}

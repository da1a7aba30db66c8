import type { Sql } from "postgres";
import { formatGwei } from "viem";
import { walletLoads } from "../../lib/ledger/in-flight.ts";
import {
  type FlightReport,
  reportFailedServiceTransactions,
  reportFlights,
  reportGaps,
  reportWaiting,
  type WaitingReport,
} from "../../lib/ledger/report.ts";
import { gasBudgets, spendingByKey, spendingByWallet } from "../../lib/ledger/spending.ts";
import { listStops, targetText } from "../../lib/ledger/stops.ts";
import { addressText, dollars, duration, eth, orDash, printTable } from "./format.ts";
import { printKeeper } from "./keeper.ts";

/** The most rows of a table. */
const ROWS = 50;

const flightColumns = [
  "chain",
  "wallet",
  "nonce",
  "state",
  "age",
  "attempts",
  "max fee gwei",
  "priority gwei",
  "last sent",
  "entry",
];
/** A purchase, its permit or a service transaction, with the id for `show`. */
const entryText = (id: string, purpose: string | null) => `${purpose ?? "purchase"} ${id}`;
const gwei = (fee: bigint | null): string => (fee === null ? "–" : formatGwei(fee));
const flightRow = (flight: FlightReport): string[] => [
  String(flight.chainId),
  addressText(flight.wallet),
  String(flight.nonce),
  `${flight.state ?? flight.kind}${flight.cancels ? ", being cancelled" : ""}`,
  duration(flight.age),
  String(flight.attempts),
  gwei(flight.maxFee),
  gwei(flight.priorityFee),
  flight.sentAgo === null ? "never" : `${duration(flight.sentAgo)} ago`,
  flight.id === null ? "–" : entryText(flight.id, flight.kind === "permit" ? "permit of" : flight.purpose),
];

const waitingColumns = ["chain", "entry", "key", "wallet", "age"];
const waitingRow = (entry: WaitingReport): string[] => [
  String(entry.chainId),
  entryText(entry.id, entry.purpose),
  orDash(entry.keyId),
  addressText(entry.wallet),
  duration(entry.age),
];

/** Prints transactions in flight, stuck entries (older than `older` seconds), nonce gaps, spending and stops. */
export async function printOverview(sql: Sql, older: number): Promise<void> {
  const [wallets, flights, stuck, waiting, late, failed, gaps, budgets, byWallet, byKey, stops] =
    await Promise.all([
      walletLoads(sql),
      reportFlights(sql, { minAge: 0, limit: ROWS }),
      reportFlights(sql, { minAge: older, limit: ROWS }),
      reportWaiting(sql, { minAge: 0, limit: ROWS }),
      reportWaiting(sql, { minAge: older, limit: ROWS }),
      reportFailedServiceTransactions(sql, ROWS),
      reportGaps(sql, ROWS),
      gasBudgets(sql),
      spendingByWallet(sql),
      spendingByKey(sql, ROWS),
      listStops(sql),
    ]);
  printTable(
    "Stops in force",
    ["target", "since", "set by", "reason"],
    stops.map((stop) => [targetText(stop), stop.since.toISOString(), stop.setBy, stop.reason]),
  );
  printTable(
    "Wallets",
    ["chain", "role", "wallet", "next nonce", "unknown", "in flight", "oldest", "writer", "cannot sign"],
    wallets.map((w) => [
      String(w.chainId),
      w.role,
      addressText(w.wallet),
      orDash(w.nextNonce),
      String(w.unknown),
      String(w.inFlight),
      duration(w.oldest),
      w.writer ?? "none",
      w.fault ?? "–",
    ]),
  );
  printTable(
    "Wallets with open transactions that no writer has held for a minute: restore the key, or `npm run ledger -- give-up <address>`",
    ["chain", "wallet", "open"],
    wallets.flatMap(({ chainId, wallet, inFlight, abandoned }) =>
      abandoned ? [[String(chainId), addressText(wallet), String(inFlight)]] : [],
    ),
  );
  printTable(`In flight, the oldest ${ROWS}`, flightColumns, flights.map(flightRow));
  printTable(`Accepted and not signed, the oldest ${ROWS}`, waitingColumns, waiting.map(waitingRow));
  printTable(`Stuck: in flight for more than ${older} s`, flightColumns, stuck.map(flightRow));
  printTable(`Stuck: not signed for more than ${older} s`, waitingColumns, late.map(waitingRow));
  printTable(
    `Service transactions that failed in the last 24 hours, the newest ${ROWS}`,
    ["chain", "entry", "failed", "code", "message"],
    failed.map((e) => [String(e.chainId), entryText(e.id, e.purpose), duration(e.age), e.code, e.message]),
  );
  await printKeeper(sql, ROWS);
  printTable(
    "Nonces that the ledger lacks below transactions in flight",
    ["chain", "wallet", "nonce"],
    gaps.map((gap) => [String(gap.chainId), addressText(gap.wallet), String(gap.nonce)]),
  );
  printTable(
    "Gas of this UTC day, with the most that open transactions may cost",
    ["chain", "budget of", "spent ETH", "budget ETH", "budget of a client ETH"],
    budgets.map((b) => [
      String(b.chainId),
      b.of === "keeper" ? "the keeper" : "all others",
      eth(b.spent),
      b.budget === null ? "–" : eth(b.budget),
      b.budgetPerClient === null ? "–" : eth(b.budgetPerClient),
    ]),
  );
  printTable(
    "Spent on transactions signed since midnight UTC, by wallet",
    ["chain", "role", "wallet", "mined", "gas ETH", "sent ETH"],
    byWallet.map((w) => [
      String(w.chainId),
      w.role,
      addressText(w.wallet),
      String(w.transactions),
      eth(w.gas),
      eth(w.given),
    ]),
    "nothing",
  );
  printTable(
    "Spent on transactions signed since midnight UTC, by key",
    ["key", "label", "wallet", "mined", "reverted", "gas ETH", "premiums USDC"],
    byKey.map((k) => [
      k.keyId,
      k.label ?? "–",
      addressText(k.wallet),
      String(k.purchases),
      String(k.reverted),
      eth(k.gas),
      dollars(k.premiums),
    ]),
    "nothing",
  );
}

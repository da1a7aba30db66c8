import type { Sql } from "postgres";
import { formatGwei } from "viem";
import { walletLoads } from "../../lib/ledger/in-flight.ts";
import { addressText, dollars, eth, inWords, orDash, printTable, targetText } from "./print.ts";
import {
  type FlightReport,
  reportFailedErrands,
  reportFlights,
  reportGaps,
  reportWaiting,
  type WaitingReport,
} from "./report.ts";
import { spendingByKey, spendingByWallet } from "./spending.ts";
import { listStops } from "./stops.ts";

/** Rows of a table: an operator looks at the worst, and at `show` for the rest. */
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
  "what",
];
/** A purchase or an errand, as an operator copies it into `show`. */
const what = (id: string, purpose: string | null) => `${purpose ?? "purchase"} ${id}`;
const flightRow = (flight: FlightReport): string[] => [
  String(flight.chainId),
  addressText(flight.wallet),
  String(flight.nonce),
  `${flight.state ?? flight.kind}${flight.cancels ? ", being cancelled" : ""}`,
  inWords(flight.age),
  String(flight.attempts),
  formatGwei(flight.maxFee),
  formatGwei(flight.priorityFee),
  flight.sentAgo === null ? "never" : `${inWords(flight.sentAgo)} ago`,
  flight.id === null ? "–" : what(flight.id, flight.purpose),
];

const waitingColumns = ["chain", "what", "key", "wallet", "age"];
const waitingRow = (entry: WaitingReport): string[] => [
  String(entry.chainId),
  what(entry.id, entry.purpose),
  orDash(entry.keyId),
  addressText(entry.wallet),
  inWords(entry.age),
];

/** Prints what is in flight, stuck, spent and stopped; stuck is what is older than `older` seconds, or behind a gap. */
export async function printOverview(sql: Sql, older: number): Promise<void> {
  const [wallets, flights, stuck, waiting, late, failed, gaps, byWallet, byKey, stops] = await Promise.all([
    walletLoads(sql),
    reportFlights(sql, { minAge: 0, limit: ROWS }),
    reportFlights(sql, { minAge: older, limit: ROWS }),
    reportWaiting(sql, { minAge: 0, limit: ROWS }),
    reportWaiting(sql, { minAge: older, limit: ROWS }),
    reportFailedErrands(sql, ROWS),
    reportGaps(sql, ROWS),
    spendingByWallet(sql),
    spendingByKey(sql, ROWS),
    listStops(sql),
  ]);
  printTable(
    "Stops in force",
    ["what", "since", "reason"],
    stops.map((stop) => [targetText(stop), stop.since.toISOString(), stop.reason]),
  );
  printTable(
    "Wallets",
    ["chain", "role", "wallet", "next nonce", "in flight", "oldest", "writer"],
    wallets.map((w) => [
      String(w.chainId),
      w.role,
      addressText(w.wallet),
      orDash(w.nextNonce),
      String(w.inFlight),
      inWords(w.oldest),
      w.writer ?? "nobody",
    ]),
  );
  printTable(`In flight, the oldest ${ROWS}`, flightColumns, flights.map(flightRow));
  printTable(`Accepted and not signed, the oldest ${ROWS}`, waitingColumns, waiting.map(waitingRow));
  printTable(`Stuck: in flight for more than ${older} s`, flightColumns, stuck.map(flightRow));
  printTable(`Stuck: not signed for more than ${older} s`, waitingColumns, late.map(waitingRow));
  printTable(
    `Errands of the last 24 hours that failed, the newest ${ROWS}`,
    ["chain", "what", "since", "code", "message"],
    failed.map((e) => [String(e.chainId), what(e.id, e.purpose), inWords(e.age), e.code, e.message]),
  );
  printTable(
    "Nonces without a transaction of ours, with others in flight above them",
    ["chain", "wallet", "nonce"],
    gaps.map((gap) => [String(gap.chainId), addressText(gap.wallet), String(gap.nonce)]),
  );
  printTable(
    "Spent on what was signed since midnight UTC, by wallet",
    ["chain", "role", "wallet", "mined", "gas ETH", "given ETH"],
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
    "Spent on what was signed since midnight UTC, by key",
    ["key", "label", "wallet", "mined", "of which reverted", "gas ETH", "premiums USDC"],
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

/** The metrics of a chain's relayer, and of the testnet's services. */
import { counter, gauge, histogram } from "./description.ts";

/** Prefix of a chain's metrics: `relay` for the main chain, `testnet` for the chain of sandbox and faucet. */
export type MetricsPrefix = "relay" | "testnet";

/** In seconds: from one SQL statement up to a transaction that waits while fees rise. */
const STAGE_BUCKETS = [
  0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60, 120, 300, 900,
];

/** The metrics of one chain's relayer. A relayer of the main chain has no label of its role. */
export const relayMetrics = (prefix: MetricsPrefix) => {
  const wallet = (name: string, help: string) => gauge(`${prefix}_wallet_${name}`, help, ["wallet", "role"]);
  return {
    stageSeconds: histogram(`${prefix}_stage_seconds`, "Time of purchases in each stage", STAGE_BUCKETS, [
      "stage",
    ]),
    broadcastSeconds: histogram(
      `${prefix}_accepted_to_broadcast_seconds`,
      "Time of purchases from their acceptance until a node has taken their transaction",
      STAGE_BUCKETS,
    ),
    broadcasts: counter(
      `${prefix}_broadcasts_total`,
      "Broadcasts of signed transactions, by the node's answer",
      ["answer"],
    ),
    settled: counter(`${prefix}_settled_total`, "Settled purchases, by outcome", ["outcome"]),
    feeBumps: counter(`${prefix}_fee_bumps_total`, "Replacement transactions signed at a higher fee"),
    gasSpent: counter(
      `${prefix}_gas_spent_eth_total`,
      "ETH spent on gas of purchases, with the L1 fee, by API key id",
      ["key_id"],
    ),
    nextNonce: wallet("next_nonce", "Nonce of the wallet's next transaction"),
    unknown: wallet(
      "unknown_transactions",
      "Transactions of the wallet that the chain has and the ledger lacks",
    ),
    inFlight: wallet("in_flight", "Signed transactions of the wallet that are not in a block"),
    oldestInFlight: wallet("oldest_in_flight_seconds", "Age of the oldest transaction in flight, or 0"),
    balance: wallet("balance_wei", "Balance of the wallet in wei"),
    transactionsLeft: wallet(
      "transactions_left",
      "Purchases that the balance can pay, at the newest gas cost",
    ),
    waiting: gauge(`${prefix}_accepted_waiting`, "Accepted purchases without a signed transaction"),
    oldestWaiting: gauge(
      `${prefix}_oldest_accepted_seconds`,
      "Age of the oldest purchase without a signed transaction, or 0",
    ),
    sourceUp: gauge(`${prefix}_source_up`, "Whether the source of the gauges answered, 1 or 0", ["source"]),
    timeToLive: gauge(
      `${prefix}_purchase_ttl_seconds`,
      "The time after which an unmined purchase is replaced (PURCHASE_TTL)",
    ),
  };
};

/** Sandbox, faucet and the service's own transactions on the testnet. */
export const testnetMetrics = {
  waiting: gauge(
    "testnet_service_transactions_waiting",
    "Service transactions without a signed transaction",
    ["purpose"],
  ),
  oldest: gauge(
    "testnet_oldest_service_transaction_seconds",
    "Age of the oldest service transaction that is not signed, or 0",
  ),
  inFlight: gauge(
    "testnet_service_transactions_in_flight",
    "Service transactions that are signed and not in a block",
    ["purpose"],
  ),
  failed: gauge(
    "testnet_service_transactions_failed",
    "Service transactions that failed in the last 24 hours",
    ["purpose"],
  ),
  sandboxReady: gauge("sandbox_ready", "Whether the sandbox's wallet could buy at its last check, 1 or 0"),
  sandboxChecked: gauge("sandbox_checked_seconds", "Age of the last check of the sandbox's wallet"),
  sandboxUsdc: gauge("sandbox_usdc", "USDC of the sandbox's wallet at its last check"),
  sandboxAllowance: gauge(
    "sandbox_allowance_usdc",
    "USDC allowance of the router at the last check of the sandbox's wallet",
  ),
  claimsToday: gauge("faucet_claims_today", "Claims of this UTC day that count towards the daily cap"),
  claimsOpen: gauge("faucet_claims_open", "Claims with a grant that is not in a block yet"),
} as const;

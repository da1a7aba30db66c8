import type { Sql } from "postgres";
import { Gauge, type Registry } from "prom-client";
import type { Address } from "viem";
import { recentGasCost, waitingPurchases, walletLoads } from "../../lib/ledger/in-flight.ts";
import type { WalletRole } from "../../lib/ledger/tables.ts";
import { errorText, type Logger } from "../../lib/log.ts";
import { within } from "../../lib/within.ts";
import type { Chain } from "../relayer/chain.ts";
import type { Meter, MetricsPrefix } from "./meter.ts";

/** A source that takes longer is left out of the answer, in ms: whoever scrapes has a time limit too. */
const SOURCE_MS = 2000;

/** A wallet as its samples name it, lowercase; on the main chain, where all are relayers', without a role. */
export type WalletLabels = { readonly wallet: Address; readonly role?: WalletRole };

export type GaugeOptions = {
  /** What the names of the gauges begin with. */
  prefix: MetricsPrefix;
  sql: Sql;
  chain: Pick<Chain, "balance">;
  chainId: number;
  /** The wallets that this writer has the keys of. */
  wallets: readonly WalletLabels[];
  meter: Pick<Meter, "recentCost">;
  log: Logger;
};

const tooLate = () => new Error(`no answer within ${SOURCE_MS} ms`);

/** Gauges that are read from the ledger and the chain when somebody asks; what cannot be read is left out. */
export function createGauges(registry: Registry, options: GaugeOptions) {
  const { prefix, sql, chain, chainId, wallets, meter, log } = options;
  const ofWallets = (name: string, help: string) =>
    new Gauge({
      name: `${prefix}_wallet_${name}`,
      help,
      labelNames: ["wallet", "role"],
      registers: [registry],
    });
  const alone = (name: string, help: string) =>
    new Gauge({ name: `${prefix}_${name}`, help, registers: [registry] });

  const nextNonce = ofWallets("next_nonce", "The nonce of the wallet's next new transaction");
  const inFlight = ofWallets("in_flight", "Transactions of the wallet that are signed and in no block");
  const oldest = ofWallets(
    "oldest_in_flight_seconds",
    "Age of the wallet's oldest transaction in flight, or 0",
  );
  const balance = ofWallets("balance_wei", "The wallet's balance");
  const left = ofWallets(
    "transactions_left",
    "Purchases that the balance pays for, at the cost of the newest that is in a block",
  );
  const waiting = alone("accepted_waiting", "Purchases of the chain that nothing is signed of yet");
  const longest = alone(
    "oldest_accepted_seconds",
    "Age of the oldest purchase that nothing is signed of yet, or 0",
  );
  const up = new Gauge({
    name: `${prefix}_source_up`,
    help: "Whether the source of the gauges answered: 1 or 0",
    labelNames: ["source"],
    registers: [registry],
  });

  let costOnRecord: bigint | undefined;

  async function readLedger(): Promise<void> {
    const [loads, accepted, recorded] = await within(
      SOURCE_MS,
      Promise.all([
        walletLoads(sql),
        waitingPurchases(sql, chainId),
        meter.recentCost() === undefined ? recentGasCost(sql, chainId) : undefined,
      ]),
      tooLate,
    );
    costOnRecord = recorded ?? costOnRecord;
    for (const load of loads) {
      const labels = wallets.find(({ wallet }) => wallet === load.wallet);
      if (load.chainId !== chainId || !labels) continue;
      if (load.nextNonce !== null) nextNonce.set(labels, load.nextNonce);
      inFlight.set(labels, load.inFlight);
      oldest.set(labels, load.oldest ?? 0);
    }
    waiting.set(accepted.count);
    longest.set(accepted.oldest ?? 0);
  }

  const readBalances = () =>
    within(SOURCE_MS, Promise.all(wallets.map(({ wallet }) => chain.balance(wallet))), tooLate);

  const isUp = new Map<string, boolean>();
  async function ask<T>(source: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      const result = await work();
      up.set({ source }, 1);
      isUp.set(source, true);
      return result;
    } catch (error) {
      up.set({ source }, 0);
      // An outage is one line, not one line a scrape.
      if (isUp.get(source) !== false)
        log.warn({ chainId, source, error: errorText(error) }, "metrics are incomplete");
      isUp.set(source, false);
      return undefined;
    }
  }

  return async function collect(): Promise<void> {
    for (const gauge of [nextNonce, inFlight, oldest, balance, left]) gauge.reset();
    for (const gauge of [waiting, longest]) gauge.remove();
    const [balances] = await Promise.all([ask("chain", readBalances), ask("ledger", readLedger)]);
    const cost = meter.recentCost() ?? costOnRecord;
    for (const [index, labels] of wallets.entries()) {
      const wei = balances?.[index];
      if (wei === undefined) continue;
      balance.set(labels, Number(wei));
      const relays = (labels.role ?? "relayer") === "relayer";
      if (cost && relays) left.set(labels, Number(wei / cost));
    }
  };
}

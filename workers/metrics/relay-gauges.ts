import type { Sql } from "postgres";
import type { Registry } from "prom-client";
import type { Address } from "viem";
import { recentGasCost, waitingPurchases, walletLoads } from "../../lib/ledger/in-flight.ts";
import type { WalletRole } from "../../lib/ledger/relayers.ts";
import { errorText, type Logger } from "../../lib/log.ts";
import { openGauge } from "../../lib/metrics/description.ts";
import { type MetricsPrefix, relayMetrics } from "../../lib/metrics/relay-metrics.ts";
import { within } from "../../lib/timeout.ts";
import type { Chain } from "../relayer/chain.ts";
import type { Meter } from "./relay-meter.ts";

/** Timeout of a source, in ms. A scrape has a time limit too, so its response omits slower sources. */
const SOURCE_MS = 2000;

/** The labels of a wallet: its lower-case address, and its role, which a relayer of the main chain lacks. */
export type WalletLabels = { readonly wallet: Address; readonly role?: WalletRole };

export type GaugeOptions = {
  /** Prefix of the gauges' names. */
  prefix: MetricsPrefix;
  sql: Sql;
  chain: Pick<Chain, "balance">;
  chainId: number;
  /** The wallets of this writer's keys. */
  wallets: readonly WalletLabels[];
  /** `PURCHASE_TTL`, in seconds. */
  purchaseTtl: number;
  meter: Pick<Meter, "recentCost">;
  log: Logger;
};

const timeout = () => new Error(`no answer within ${SOURCE_MS} ms`);

/** Gauges that each scrape reads from the relay ledger and the chain. A failed source leaves its gauges without samples. */
export function createGauges(registry: Registry, options: GaugeOptions) {
  const { prefix, sql, chain, chainId, wallets, purchaseTtl, meter, log } = options;
  const described = relayMetrics(prefix);
  const nextNonce = openGauge(registry, described.nextNonce);
  const unknown = openGauge(registry, described.unknown);
  const inFlight = openGauge(registry, described.inFlight);
  const oldest = openGauge(registry, described.oldestInFlight);
  const balance = openGauge(registry, described.balance);
  const left = openGauge(registry, described.transactionsLeft);
  const waiting = openGauge(registry, described.waiting);
  const longest = openGauge(registry, described.oldestWaiting);
  const up = openGauge(registry, described.sourceUp);
  openGauge(registry, described.timeToLive).set(purchaseTtl);

  let storedCost: bigint | undefined;

  async function readLedger(): Promise<void> {
    const [loads, accepted, recorded] = await within(
      SOURCE_MS,
      Promise.all([
        walletLoads(sql),
        waitingPurchases(sql, chainId),
        meter.recentCost() === undefined ? recentGasCost(sql, chainId) : undefined,
      ]),
      timeout,
    );
    storedCost = recorded ?? storedCost;
    for (const load of loads) {
      const labels = wallets.find(({ wallet }) => wallet === load.wallet);
      if (load.chainId !== chainId || !labels) continue;
      if (load.nextNonce !== null) nextNonce.set(labels, load.nextNonce);
      unknown.set(labels, load.unknown);
      inFlight.set(labels, load.inFlight);
      oldest.set(labels, load.oldest ?? 0);
    }
    waiting.set(accepted.count);
    longest.set(accepted.oldest ?? 0);
  }

  const readBalances = () =>
    within(SOURCE_MS, Promise.all(wallets.map(({ wallet }) => chain.balance(wallet))), timeout);

  const isUp = new Map<string, boolean>();
  async function readSource<T>(source: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      const result = await work();
      up.set({ source }, 1);
      isUp.set(source, true);
      return result;
    } catch (error) {
      up.set({ source }, 0);
      // One log line for each outage, not for each scrape.
      if (isUp.get(source) !== false)
        log.warn({ chainId, source, err: errorText(error) }, "metrics are incomplete");
      isUp.set(source, false);
      return undefined;
    }
  }

  return async function collect(): Promise<void> {
    for (const gauge of [nextNonce, unknown, inFlight, oldest, balance, left]) gauge.reset();
    for (const gauge of [waiting, longest]) gauge.remove();
    const [balances] = await Promise.all([
      readSource("chain", readBalances),
      readSource("ledger", readLedger),
    ]);
    const cost = meter.recentCost() ?? storedCost;
    for (const [index, labels] of wallets.entries()) {
      const wei = balances?.[index];
      if (wei === undefined) continue;
      balance.set(labels, Number(wei));
      const relays = (labels.role ?? "relayer") === "relayer";
      if (cost && relays) left.set(labels, Number(wei / cost));
    }
  };
}

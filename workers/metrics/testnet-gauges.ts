import type { Sql } from "postgres";
import type { Registry } from "prom-client";
import {
  faucetFigures,
  type ServiceTransactionFigures,
  sandboxFigures,
  serviceTransactionFigures,
} from "../../lib/ledger/service-transaction-figures.ts";
import { openGauge } from "../../lib/metrics/description.ts";
import { testnetMetrics } from "../../lib/metrics/relay-metrics.ts";
import { valueWithin } from "../../lib/timeout.ts";

/** Timeout of a source, in ms. A scrape has a time limit too, so its response omits slower sources. */
const SOURCE_MS = 2000;

/** Gauges of sandbox and faucet that each scrape reads from the database. A failed source leaves its gauges without samples. */
export function createTestnetGauges(registry: Registry, sql: Sql, chainId: number) {
  const waiting = openGauge(registry, testnetMetrics.waiting);
  const oldest = openGauge(registry, testnetMetrics.oldest);
  const inFlight = openGauge(registry, testnetMetrics.inFlight);
  const failed = openGauge(registry, testnetMetrics.failed);
  const ready = openGauge(registry, testnetMetrics.sandboxReady);
  const checked = openGauge(registry, testnetMetrics.sandboxChecked);
  const usdc = openGauge(registry, testnetMetrics.sandboxUsdc);
  const allowance = openGauge(registry, testnetMetrics.sandboxAllowance);
  const claims = openGauge(registry, testnetMetrics.claimsToday);
  const open = openGauge(registry, testnetMetrics.claimsOpen);

  function setServiceTransactions({ purposes, oldest: age }: ServiceTransactionFigures): void {
    for (const { purpose, ...counts } of purposes) {
      waiting.set({ purpose }, counts.waiting);
      inFlight.set({ purpose }, counts.inFlight);
      failed.set({ purpose }, counts.failed);
    }
    oldest.set(age ?? 0);
  }

  return async function collect(): Promise<void> {
    for (const each of [waiting, inFlight, failed]) each.reset();
    for (const each of [oldest, ready, checked, usdc, allowance, claims, open]) each.remove();
    const [serviceTransactions, sandbox, faucet] = await Promise.all([
      valueWithin(SOURCE_MS, serviceTransactionFigures(sql, chainId)),
      valueWithin(SOURCE_MS, sandboxFigures(sql, chainId)),
      valueWithin(SOURCE_MS, faucetFigures(sql, chainId)),
    ]);
    if (serviceTransactions) setServiceTransactions(serviceTransactions);
    if (sandbox) {
      ready.set(sandbox.canBuy ? 1 : 0);
      checked.set(sandbox.age);
      usdc.set(Number(sandbox.usdc) / 1e6);
      allowance.set(Number(sandbox.allowance) / 1e6);
    }
    if (faucet) {
      claims.set(faucet.claimsToday);
      open.set(faucet.claimsOpen);
    }
  };
}

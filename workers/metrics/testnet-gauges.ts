import type { Sql } from "postgres";
import { Gauge, type Registry } from "prom-client";
import {
  faucetFigures,
  type ServiceTransactionFigures,
  sandboxFigures,
  serviceTransactionFigures,
} from "../../lib/ledger/service-transaction-figures.ts";
import { valueWithin } from "../../lib/timeout.ts";

/** Timeout of a source, in ms. A scrape has a time limit too, so its response omits slower sources. */
const SOURCE_MS = 2000;

/** Gauges of sandbox and faucet that each scrape reads from the database. A failed source leaves its gauges without samples. */
export function createTestnetGauges(registry: Registry, sql: Sql, chainId: number) {
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name, help, labelNames, registers: [registry] });
  const waiting = gauge(
    "testnet_service_transactions_waiting",
    "Service transactions without a signed transaction",
    ["purpose"],
  );
  const oldest = gauge(
    "testnet_oldest_service_transaction_seconds",
    "Age of the oldest service transaction that is not signed, or 0",
  );
  const inFlight = gauge(
    "testnet_service_transactions_in_flight",
    "Service transactions that are signed and not in a block",
    ["purpose"],
  );
  const failed = gauge(
    "testnet_service_transactions_failed",
    "Service transactions that failed in the last 24 hours",
    ["purpose"],
  );
  const ready = gauge("sandbox_ready", "Whether the sandbox's wallet could buy at its last check, 1 or 0");
  const checked = gauge("sandbox_checked_seconds", "Age of the last check of the sandbox's wallet");
  const usdc = gauge("sandbox_usdc", "USDC of the sandbox's wallet at its last check");
  const allowance = gauge(
    "sandbox_allowance_usdc",
    "USDC allowance of the router at the last check of the sandbox's wallet",
  );
  const claims = gauge("faucet_claims_today", "Claims of this UTC day that count towards the daily cap");
  const open = gauge("faucet_claims_open", "Claims with a grant that is not in a block yet");

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

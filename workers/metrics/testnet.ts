import type { Sql } from "postgres";
import { Gauge, type Registry } from "prom-client";
import {
  type ErrandFigures,
  errandFigures,
  faucetFigures,
  sandboxFigures,
} from "../../lib/ledger/errand-figures.ts";
import { soon } from "../../lib/within.ts";

/** A source that takes longer is left out of the answer, in ms: whoever scrapes has a time limit too. */
const SOURCE_MS = 2000;

/** Gauges of sandbox and faucet that are read from the tables when somebody asks; what cannot be read is left out. */
export function createTestnetGauges(registry: Registry, sql: Sql, chainId: number) {
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name, help, labelNames, registers: [registry] });
  const waiting = gauge("testnet_errands_waiting", "Errands that nothing is signed of yet", ["purpose"]);
  const oldest = gauge("testnet_oldest_errand_seconds", "Age of the oldest such errand, or 0");
  const inFlight = gauge("testnet_errands_in_flight", "Errands that are signed and in no block", ["purpose"]);
  const failed = gauge("testnet_errands_failed", "Errands of the last 24 hours that failed", ["purpose"]);
  const ready = gauge("sandbox_ready", "Whether the sandbox's wallet can buy, as last checked: 1 or 0");
  const checked = gauge("sandbox_checked_seconds", "Age of the last check of the sandbox's wallet");
  const money = gauge("sandbox_usdc", "USDC that the sandbox's wallet had then");
  const allowance = gauge("sandbox_allowance_usdc", "USDC that the router might take from it then");
  const claims = gauge("faucet_claims_today", "Claims of this UTC day, which the daily cap bounds");
  const open = gauge("faucet_claims_open", "Claims that are not wholly in a block yet");

  function setErrands({ purposes, oldest: age }: ErrandFigures): void {
    for (const { purpose, ...counts } of purposes) {
      waiting.set({ purpose }, counts.waiting);
      inFlight.set({ purpose }, counts.inFlight);
      failed.set({ purpose }, counts.failed);
    }
    oldest.set(age ?? 0);
  }

  return async function collect(): Promise<void> {
    for (const one of [waiting, inFlight, failed]) one.reset();
    for (const one of [oldest, ready, checked, money, allowance, claims, open]) one.remove();
    const [errands, sandbox, faucet] = await Promise.all([
      soon(SOURCE_MS, errandFigures(sql, chainId)),
      soon(SOURCE_MS, sandboxFigures(sql, chainId)),
      soon(SOURCE_MS, faucetFigures(sql, chainId)),
    ]);
    if (errands) setErrands(errands);
    if (sandbox) {
      ready.set(sandbox.canBuy ? 1 : 0);
      checked.set(sandbox.age);
      money.set(Number(sandbox.usdc) / 1e6);
      allowance.set(Number(sandbox.allowance) / 1e6);
    }
    if (faucet) {
      claims.set(faucet.claimsToday);
      open.set(faucet.claimsOpen);
    }
  };
}

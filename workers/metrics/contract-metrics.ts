import type { Registry } from "prom-client";
import { contractMetrics } from "../../lib/metrics/contract-metrics.ts";
import { openCounter, openGauge } from "../../lib/metrics/description.ts";

/** Measures what becomes of the protocol's contracts. */
export function createContractMeter(registry: Registry) {
  const upgrades = openCounter(registry, contractMetrics.upgrades);
  const different = openGauge(registry, contractMetrics.different);
  return {
    upgraded: (): void => upgrades.inc(),
    /** So many views and constants differ from what the service expects. */
    compared: (differences: number): void => different.set(differences),
  };
}

export type ContractMeter = ReturnType<typeof createContractMeter>;

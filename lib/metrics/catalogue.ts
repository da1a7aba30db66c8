/** Every metric that api and writer state, by name. */
import { apiMetrics } from "./api-metrics.ts";
import { contractMetrics } from "./contract-metrics.ts";
import type { AnyMetric } from "./description.ts";
import { keeperMetrics } from "./keeper-metrics.ts";
import { processMetrics } from "./process-metrics.ts";
import { relayMetrics, testnetMetrics } from "./relay-metrics.ts";
import { webhookMetrics } from "./webhook-metrics.ts";

export const catalogue: readonly AnyMetric[] = [
  apiMetrics,
  relayMetrics("relay"),
  relayMetrics("testnet"),
  testnetMetrics,
  keeperMetrics,
  contractMetrics,
  webhookMetrics,
  processMetrics,
].flatMap((group): AnyMetric[] => Object.values(group));

/** `GET /metrics` of the API, for Prometheus, on a port of its own. */
import { Registry } from "prom-client";
import type { ApiConfig } from "../lib/config.ts";
import type { Logger } from "../lib/log.ts";
import { apiMetrics } from "../lib/metrics/api-metrics.ts";
import { openGauge } from "../lib/metrics/description.ts";
import { collectProcessMetrics } from "../lib/metrics/process-metrics.ts";
import { serveMetrics } from "../lib/metrics/serve.ts";
import { valueWithin } from "../lib/timeout.ts";
import { type ApiMeter, createApiMeter } from "./http/request-metrics.ts";

/** Timeout of a source, in ms. A scrape has a time limit too, so its response omits slower sources. */
const SOURCE_MS = 2000;

export type ApiMetrics = {
  readonly registry: Registry;
  readonly meter: ApiMeter;
};

export function createApiMetrics(): ApiMetrics {
  const registry = new Registry();
  collectProcessMetrics(registry);
  return { registry, meter: createApiMeter(registry) };
}

/** The seconds that an empty statement takes. */
async function statementSeconds(emptyStatement: EmptyStatement): Promise<number> {
  const begun = performance.now();
  await emptyStatement();
  return (performance.now() - begun) / 1000;
}

type EmptyStatement = () => PromiseLike<unknown>;

export type MetricsSources = {
  /** An empty statement of each pool, by the pool's name. */
  readonly pools: Readonly<Record<string, EmptyStatement>>;
  /** Undefined without one. */
  readonly standby: { isUsed(): boolean } | undefined;
  readonly readIndexLag: () => Promise<bigint>;
  readonly log: Logger;
};

/**
 * Serves the metrics. A source that is away leaves its gauge without samples. @returns the function that stops it.
 * @throws {ConfigError} when it cannot listen on `API_METRICS_PORT`
 */
export function startApiMetrics(
  { registry }: ApiMetrics,
  config: Pick<ApiConfig, "API_METRICS_PORT" | "METRICS_HOST">,
  { pools, standby, readIndexLag, log }: MetricsSources,
): Promise<() => Promise<void>> {
  const poolWait = openGauge(registry, apiMetrics.poolWait);
  const indexLag = openGauge(registry, apiMetrics.indexLag);
  const standbyUsed = openGauge(registry, apiMetrics.standbyUsed);
  async function collectPool(pool: string, emptyStatement: EmptyStatement): Promise<void> {
    const seconds = await valueWithin(SOURCE_MS, statementSeconds(emptyStatement));
    if (seconds === undefined) poolWait.remove({ pool });
    else poolWait.set({ pool }, seconds);
  }
  async function collectLag(): Promise<void> {
    const blocks = await valueWithin(SOURCE_MS, readIndexLag());
    if (blocks === undefined) indexLag.remove();
    else indexLag.set(Number(blocks));
  }
  function collectStandby(): void {
    if (standby) standbyUsed.set(Number(standby.isUsed()));
    else standbyUsed.remove();
  }
  return serveMetrics({
    registry,
    collect() {
      collectStandby();
      return Promise.all([
        ...Object.entries(pools).map(([pool, emptyStatement]) => collectPool(pool, emptyStatement)),
        collectLag(),
      ]);
    },
    host: config.METRICS_HOST,
    port: config.API_METRICS_PORT,
    portVariable: "API_METRICS_PORT",
    log,
  });
}

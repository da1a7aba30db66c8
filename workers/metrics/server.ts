import { createServer, type Server } from "node:http";
import { Registry } from "prom-client";
import { privateKeyToAddress } from "viem/accounts";
import { ConfigError, type WriterConfig } from "../../lib/config.ts";
import { connect } from "../../lib/db/connect.ts";
import type { Deployment } from "../../lib/deployments.ts";
import { lower } from "../../lib/ledger/lower.ts";
import { errorText, type Logger } from "../../lib/log.ts";
import type { Chain } from "../relayer/chain.ts";
import { createDeliveryGauges, createDeliveryMeter, type DeliveryMeter } from "./deliveries.ts";
import { createGauges } from "./gauges.ts";
import { createMeter, type Meter } from "./meter.ts";

/** A statement of a scrape is ended after this time, in ms. */
const STATEMENT_MS = 2000;

export type MetricsOptions = { config: WriterConfig; deployment: Deployment; chain: Chain; log: Logger };
export type Metrics = { meter: Meter; deliveryMeter: DeliveryMeter; close(): Promise<void> };

function listen(server: Server, { METRICS_PORT: port, METRICS_HOST: host }: WriterConfig): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const fault =
        error.code === "EADDRINUSE"
          ? `METRICS_PORT ${port} is taken by another process`
          : `METRICS_HOST ${host}, METRICS_PORT ${port} cannot be listened on: ${error.message}`;
      reject(new ConfigError([fault]));
    });
    server.listen({ port, host }, resolve);
  });
}

/**
 * Serves `GET /metrics`, the writer's own figures for Prometheus, and nothing else. It answers what it can while Postgres
 * or the node is away. Throws {@link ConfigError} when the port cannot be had.
 */
export async function startMetrics({ config, deployment, chain, log }: MetricsOptions): Promise<Metrics> {
  const registry = new Registry();
  const meter = createMeter(registry);
  const deliveryMeter = createDeliveryMeter(registry);
  // A connection of its own: a scrape does not wait for purchases, nor a purchase for a scrape.
  const { sql, close } = connect(config.DATABASE_URL, {
    name: "writer-metrics",
    max: 1,
    statementTimeout: STATEMENT_MS,
  });
  const { chainId } = deployment;
  const wallets = config.RELAYER_PRIVATE_KEYS.map((key) => lower(privateKeyToAddress(key)));
  const collect = createGauges(registry, { sql, chain, chainId, wallets, meter, log });
  const collectDeliveries = createDeliveryGauges(registry, { sql, chain, chainId });

  let collecting: Promise<string> | undefined;
  /** Scrapes of the same moment share one answer. */
  function scrape(): Promise<string> {
    collecting ??= Promise.all([collect(), collectDeliveries()])
      .then(() => registry.metrics())
      .finally(() => {
        collecting = undefined;
      });
    return collecting;
  }

  const server = createServer((request, response) => {
    if (request.method !== "GET" || request.url?.split("?")[0] !== "/metrics") {
      response.writeHead(404).end();
      return;
    }
    scrape().then(
      (text) => response.writeHead(200, { "content-type": registry.contentType }).end(text),
      (error: unknown) => {
        log.error({ error: errorText(error) }, "metrics could not be answered");
        response.writeHead(500).end();
      },
    );
  });
  await listen(server, config);
  return {
    meter,
    deliveryMeter,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await close();
    },
  };
}

import { createServer, type Server } from "node:http";
import { Registry } from "prom-client";
import { ConfigError, type WriterConfig } from "../../lib/config.ts";
import { connect } from "../../lib/db/connect.ts";
import type { Deployment } from "../../lib/deployments.ts";
import { errorText, type Logger } from "../../lib/log.ts";
import type { Chain } from "../relayer/chain.ts";
import { createDeliveryGauges, createDeliveryMeter, type DeliveryMeter } from "./deliveries.ts";
import { createGauges } from "./gauges.ts";
import { createMeter, type Meter } from "./meter.ts";
import { createTestnetGauges } from "./testnet.ts";
import { mainWallets, testnetWallets } from "./wallets.ts";

/** A statement of a scrape is ended after this time, in ms. */
const STATEMENT_MS = 2000;

type Place = { deployment: Deployment; chain: Chain };
export type MetricsOptions = Place & {
  config: WriterConfig;
  /** The chain of sandbox and faucet, where there is one. */
  testnet?: Place | undefined;
  log: Logger;
};
/** `testnetMeter` is of the testnet's relayer; nobody sees its figures where no testnet is configured. */
export type Metrics = {
  meter: Meter;
  testnetMeter: Meter;
  deliveryMeter: DeliveryMeter;
  close(): Promise<void>;
};

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
export async function startMetrics(options: MetricsOptions): Promise<Metrics> {
  const { config, deployment, chain, testnet, log } = options;
  const registry = new Registry();
  const meter = createMeter(registry);
  const testnetMeter = createMeter(testnet ? registry : new Registry(), "testnet");
  const deliveryMeter = createDeliveryMeter(registry);
  // A connection of its own: a scrape does not wait for purchases, nor a purchase for a scrape.
  const { sql, close } = connect(config.DATABASE_URL, {
    name: "writer-metrics",
    max: 1,
    statementTimeout: STATEMENT_MS,
  });
  const { chainId } = deployment;
  const wallets = mainWallets(config);
  const collectors = [
    createGauges(registry, { prefix: "relay", sql, chain, chainId, wallets, meter, log }),
    createDeliveryGauges(registry, { sql, chain, chainId }),
  ];
  if (testnet) {
    const itsChainId = testnet.deployment.chainId;
    const options = {
      prefix: "testnet",
      sql,
      chain: testnet.chain,
      chainId: itsChainId,
      wallets: testnetWallets(config),
      meter: testnetMeter,
      log,
    } as const;
    collectors.push(createGauges(registry, options), createTestnetGauges(registry, sql, itsChainId));
  }

  let collecting: Promise<string> | undefined;
  /** Scrapes of the same moment share one answer. */
  function scrape(): Promise<string> {
    collecting ??= Promise.all(collectors.map((collect) => collect()))
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
    testnetMeter,
    deliveryMeter,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await close();
    },
  };
}

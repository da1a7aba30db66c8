import { Registry } from "prom-client";
import type { WriterConfig } from "../../lib/config.ts";
import { connect } from "../../lib/db/connect.ts";
import type { Deployment } from "../../lib/deployments.ts";
import type { Logger } from "../../lib/log.ts";
import { collectProcessMetrics } from "../../lib/metrics/process-metrics.ts";
import { serveMetrics } from "../../lib/metrics/serve.ts";
import { hasKeeper } from "../common/wallet-keys.ts";
import type { Chain } from "../relayer/chain.ts";
import { type ContractMeter, createContractMeter } from "./contract-metrics.ts";
import { createKeeperGauges, createKeeperMeter, type KeeperMeter } from "./keeper-metrics.ts";
import { createGauges } from "./relay-gauges.ts";
import { createMeter, type Meter } from "./relay-meter.ts";
import { createTestnetGauges } from "./testnet-gauges.ts";
import { mainWallets, testnetWallets } from "./wallet-labels.ts";
import { createDeliveryGauges, createDeliveryMeter, type DeliveryMeter } from "./webhook-metrics.ts";

/** Statement timeout of a scrape, in ms. */
const STATEMENT_MS = 2000;

type DeployedChain = { deployment: Deployment; chain: Chain };
export type MetricsOptions = DeployedChain & {
  config: WriterConfig;
  /** The chain of sandbox and faucet, if configured. */
  testnet?: DeployedChain | undefined;
  log: Logger;
};
/** Without a testnet, no scrape shows the figures of `testnetMeter`; without a keeper's key, none those of `keeperMeter`. */
export type Metrics = {
  meter: Meter;
  testnetMeter: Meter;
  keeperMeter: KeeperMeter;
  deliveryMeter: DeliveryMeter;
  contractMeter: ContractMeter;
  close(): Promise<void>;
};

/**
 * Serves the writer's metrics for Prometheus at `GET /metrics`. While Postgres or the node is down, it omits their gauges.
 * Throws {@link ConfigError} when it cannot listen on the port.
 */
export async function startMetrics(options: MetricsOptions): Promise<Metrics> {
  const { config, deployment, chain, testnet, log } = options;
  const registry = new Registry();
  collectProcessMetrics(registry);
  const meter = createMeter(registry);
  const testnetMeter = createMeter(testnet ? registry : new Registry(), "testnet");
  const isKeeper = hasKeeper(config);
  const keeperMeter = createKeeperMeter(isKeeper ? registry : new Registry());
  const deliveryMeter = createDeliveryMeter(registry);
  const contractMeter = createContractMeter(registry);
  // A separate connection: scrapes and purchases do not wait for each other.
  const { sql, close } = connect(config.DATABASE_URL, {
    name: "writer-metrics",
    max: 1,
    statementTimeout: STATEMENT_MS,
  });
  const { chainId } = deployment;
  const wallets = mainWallets(config);
  const { PURCHASE_TTL: purchaseTtl } = config;
  const collectors = [
    createGauges(registry, { prefix: "relay", sql, chain, chainId, wallets, purchaseTtl, meter, log }),
    createDeliveryGauges(registry, { sql, chain, chainId }),
    ...(isKeeper ? [createKeeperGauges(registry, sql, chainId)] : []),
  ];
  if (testnet) {
    const testnetChainId = testnet.deployment.chainId;
    const options = {
      prefix: "testnet",
      sql,
      chain: testnet.chain,
      chainId: testnetChainId,
      wallets: testnetWallets(config),
      purchaseTtl,
      meter: testnetMeter,
      log,
    } as const;
    collectors.push(createGauges(registry, options), createTestnetGauges(registry, sql, testnetChainId));
  }

  const stop = await serveMetrics({
    registry,
    collect: () => Promise.all(collectors.map((collect) => collect())),
    host: config.METRICS_HOST,
    port: config.METRICS_PORT,
    portVariable: "METRICS_PORT",
    log,
  });
  return {
    meter,
    testnetMeter,
    keeperMeter,
    deliveryMeter,
    contractMeter,
    async close() {
      await stop();
      await close();
    },
  };
}

import { setTimeout as sleep } from "node:timers/promises";
import { isLocal } from "../lib/chain/client.ts";
import { ConfigError, writerConfig } from "../lib/config.ts";
import { migrateService } from "../lib/db/migrate.ts";
import { requireDeployment } from "../lib/deployments.ts";
import { createLogger, errorText, type Logger } from "../lib/log.ts";
import { requireFittingKeys } from "./keys.ts";
import { startMetrics } from "./metrics/server.ts";
import { type Chain, openChain } from "./relayer/chain.ts";
import { type Relayer, startRelayer } from "./relayer/start.ts";

/**
 * The writer: the only process that holds keys. It waits for the servers that it needs, however long they take, relays
 * purchases until it is told to stop, and then leaves within ten seconds; what it could not finish is in the ledger.
 */

const STOP_MS = 9_000;
const RETRY_MS = 500;

/** Does `work` until it succeeds; a configuration fault is not a matter of waiting. */
async function untilItWorks<T>(what: string, log: Logger, work: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (error instanceof ConfigError) throw error;
      if (attempt % 20 === 0) log.warn({ error: errorText(error) }, `waiting for ${what}`);
      await sleep(RETRY_MS);
    }
  }
}

async function requireChain(chain: Chain, expected: number): Promise<void> {
  const actual = await chain.client.getChainId();
  if (actual !== expected) {
    throw new ConfigError([
      `RPC_URL serves chain ${actual}, but DEPLOYMENT_FILE describes chain ${expected}`,
    ]);
  }
}

async function start(log: Logger, config: ReturnType<typeof writerConfig>): Promise<Relayer> {
  const deployment = requireDeployment(config.DEPLOYMENT_FILE);
  const chain = openChain(deployment, config.RPC_URL);
  const metrics = await startMetrics({ config, deployment, chain, log });
  await untilItWorks("the chain", log, async () => {
    await requireChain(chain, deployment.chainId);
    requireFittingKeys(config.RELAYER_PRIVATE_KEYS, await isLocal(chain.client, deployment));
  });
  await untilItWorks("Postgres", log, () => migrateService(config.DATABASE_URL));
  const { meter } = metrics;
  const relayer = await untilItWorks(config.REDIS_URL ? "Redis" : "the queue", log, () =>
    startRelayer({ config, deployment, chain, meter, log }),
  );
  return {
    async stop() {
      await relayer.stop();
      await metrics.close();
    },
  };
}

async function main(): Promise<void> {
  const config = writerConfig(process.env);
  const log = createLogger("writer", config.LOG_LEVEL);
  for (const event of ["uncaughtException", "unhandledRejection"] as const) {
    process.on(event, (error: unknown) => {
      log.fatal({ error: errorText(error), stack: error instanceof Error ? error.stack : undefined }, event);
      process.exit(1);
    });
  }

  let relayer: Relayer | undefined;
  let stopping = false;
  async function stop(signal: NodeJS.Signals): Promise<void> {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, "stopping");
    setTimeout(() => {
      log.warn("stopped before everything was finished; the ledger knows the rest");
      process.exit(0);
    }, STOP_MS).unref();
    await relayer?.stop();
    log.info("stopped");
    process.exit(0);
  }
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);

  relayer = await start(log, config);
  log.info("the writer is ready");
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof ConfigError ? error.message : String(error)}\n`);
  process.exit(1);
});

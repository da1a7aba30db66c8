/**
 * Starts Ponder, in this very process, on a Postgres schema that follows from the build; readers see it through the
 * stable views schema once it is complete. Configured by the environment alone.
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import { ConfigError, type IndexerConfig, indexerConfig } from "../lib/config.ts";
import { connect } from "../lib/db/connect.ts";
import { migrateService } from "../lib/db/migrate.ts";
import { indexerDeployment } from "../lib/db/service.schema.ts";
import { type Deployment, requireDeployment } from "../lib/deployments.ts";
import { createLogger, errorText } from "../lib/log.ts";
import { startHeartbeat } from "./indexer/heartbeat.ts";
import { clearStaleLock, lockSchema, SchemaTakenError } from "./indexer/schema-lock.ts";
import { indexerSchemaName, ponderManifest } from "./indexer/schema-name.ts";
import { isPortFree } from "./local/ports.ts";
import { waitFor } from "./local/wait.ts";

/** Exit code of an indexer that found its schema served by another one. */
const takenExitCode = 3;
/** Database and chain may come up after this process, and a supervisor's restart is slower than a wait. */
const dependencyTimeoutMs = 60_000;

const blockAnswer = z.object({ result: z.object({ hash: z.string() }) });

async function genesisHash(rpcUrl: string): Promise<string> {
  const response = await fetch(rpcUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_getBlockByNumber", params: ["0x0", false] }),
    signal: AbortSignal.timeout(10_000),
  });
  return blockAnswer.parse(await response.json()).result.hash;
}

async function record(config: IndexerConfig, deployment: Deployment, schemaName: string): Promise<void> {
  const { db, close } = connect(config.DATABASE_URL, { name: "indexer-launcher", max: 1 });
  const row = { schemaName, viewsSchema: config.VIEWS_SCHEMA, chainId: deployment.chainId };
  try {
    await db
      .insert(indexerDeployment)
      .values(row)
      .onConflictDoUpdate({ target: indexerDeployment.schemaName, set: { ...row, startedAt: new Date() } });
  } finally {
    await close();
  }
}

/**
 * Vite, which Ponder builds with, answers SIGTERM by ending the process before Ponder has put its lock down. So every
 * listener for SIGTERM but ours is taken off again, and ours hands the signal on as SIGINT, which Ponder alone hears.
 */
function passTerminationOnAsInterrupt(): void {
  process.on("SIGTERM", () => process.kill(process.pid, "SIGINT"));
  process.on("newListener", (event, listener) => {
    if (event === "SIGTERM") queueMicrotask(() => process.removeListener("SIGTERM", listener));
  });
}

async function runPonder(config: IndexerConfig, schema: string): Promise<void> {
  // Ponder obeys PORT before its own option, and reads one from `.env.local` too unless one is set already.
  process.env.PORT = String(config.PONDER_PORT);
  process.env.PONDER_TELEMETRY_DISABLED = "1";
  const options = {
    "--schema": schema,
    "--views-schema": config.VIEWS_SCHEMA,
    "--port": String(config.PONDER_PORT),
    "--hostname": config.PONDER_HOST,
    "--log-format": "json",
  };
  process.argv = [process.argv0, "ponder", "start", ...Object.entries(options).flat()];
  const { bin } = z
    .object({ bin: z.object({ ponder: z.string() }) })
    .parse(JSON.parse(readFileSync(ponderManifest, "utf8")));
  await import(pathToFileURL(join(dirname(ponderManifest), bin.ponder)).href);
}

async function main(): Promise<void> {
  const config = indexerConfig(process.env);
  const deployment = requireDeployment(config.DEPLOYMENT_FILE);
  const log = createLogger("indexer", config.LOG_LEVEL);

  if (!(await isPortFree(config.PONDER_PORT))) {
    // Ponder would take the next port, and a health check would ask whoever sits on this one.
    throw new ConfigError([`PONDER_PORT ${config.PONDER_PORT} is taken by another process`]);
  }
  await waitFor({
    what: "the database (DATABASE_URL)",
    probe: () => migrateService(config.DATABASE_URL).then(() => true),
    timeoutMs: dependencyTimeoutMs,
    intervalMs: 500,
  });
  const startBlock = config.START_BLOCK ?? deployment.startBlock;
  const chain = await waitFor({
    what: "the chain (RPC_URL)",
    probe: async () => ({ genesisHash: await genesisHash(config.RPC_URL), startBlock }),
    timeoutMs: dependencyTimeoutMs,
    intervalMs: 500,
  });

  const schema = indexerSchemaName(deployment, chain);
  const guard = await lockSchema(config.DATABASE_URL, schema, () => {
    // Not an orderly shutdown: Ponder's would clear the lock row of the indexer that has taken over.
    log.fatal({ schema }, "another indexer has taken over this schema");
    process.exit(takenExitCode);
  });
  await clearStaleLock(guard.sql, schema);
  await record(config, deployment, schema);
  startHeartbeat(guard.sql, schema);
  log.info({ schema, viewsSchema: config.VIEWS_SCHEMA, port: config.PONDER_PORT }, "starting Ponder");
  passTerminationOnAsInterrupt();
  await runPonder(config, schema);
}

main().catch((error: unknown) => {
  console.error(errorText(error));
  if (error instanceof Error && error.cause !== undefined) console.error(errorText(error.cause));
  process.exit(error instanceof SchemaTakenError ? takenExitCode : 1);
});

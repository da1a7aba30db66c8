/**
 * Starts Ponder in this process, on a Postgres schema named by a hash of the build. Readers see it through the stable views
 * schema once it has caught up, and until then what they saw before. All configuration comes from the environment.
 */

import { builtFrom, patches, ponderVersion } from "indexer:sources";
import { start } from "ponder/start";
import { z } from "zod";
import { createReadClient } from "../lib/chain/client.ts";
import { type IndexerConfig, indexerConfig } from "../lib/config.ts";
import { ConfigError } from "../lib/config-error.ts";
import { connect } from "../lib/db/connect.ts";
import { grantViews } from "../lib/db/grants.ts";
import { migrateService } from "../lib/db/migrate.ts";
import { reportSessions } from "../lib/db/report-sessions.ts";
import { countSessions, PONDER_SESSIONS } from "../lib/db/sessions.ts";
import { type Deployment, requireDeployment } from "../lib/deployments.ts";
import { createLogger, errorText } from "../lib/log.ts";
import { projectRoot } from "../lib/project-root.ts";
import { type IndexedSources, SOURCES_VARIABLE } from "../src/shared/sources.ts";
import { watchCatchUp } from "./indexer/catch-up.ts";
import { exitCodes } from "./indexer/exit-codes.ts";
import { beginCatchUp } from "./indexer/last-block.ts";
import { endWithPresentBuild, reportShown, startNextBuild } from "./indexer/next-build.ts";
import { clearStaleLock, lockSchema, SchemaTakenError, startHeartbeat } from "./indexer/schema-lock.ts";
import { buildHash, indexerSchemaName } from "./indexer/schema-name.ts";
import { findSources, watchSources } from "./indexer/sources.ts";
import { isPortFree } from "./local/ports.ts";
import { waitFor } from "./local/wait.ts";

/** Database and chain may start after this process; waiting is faster than a supervisor's restart. */
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

/**
 * Lets the api read the views, and shows it that an indexer is at work.
 * @returns the sources with which the schema began, as JSON: those that were found now, if this is its first start. What old states
 *   the node keeps is true of this start only: a node that keeps the newest has dropped those of an earlier start
 */
async function prepareDatabase(
  config: IndexerConfig,
  deployment: Deployment,
  schemaName: string,
  found: IndexedSources,
): Promise<string> {
  const { sql, close } = connect(config.DATABASE_URL, { name: "indexer-launcher", max: 1 });
  try {
    await grantViews(sql, config.VIEWS_SCHEMA);
    const [row] = await sql<{ feeds: string }[]>`
      insert into service.indexer_deployment as known (schema_name, views_schema, chain_id, feeds)
      values (${schemaName}, ${config.VIEWS_SCHEMA}, ${deployment.chainId}, ${JSON.stringify(found)}::text::jsonb)
      on conflict (schema_name) do update
      set views_schema = excluded.views_schema, chain_id = excluded.chain_id, started_at = now(),
        feeds = coalesce(known.feeds, excluded.feeds)
      returning jsonb_set(feeds, '{statesFrom}', to_jsonb(${found.statesFrom}::integer))::text as feeds`;
    if (row === undefined) throw new Error(`no row of schema ${schemaName} was written`);
    return row.feeds;
  } finally {
    await close();
  }
}

async function runPonder(config: IndexerConfig, schema: string): Promise<void> {
  // Ponder prefers PORT to its own option.
  process.env.PORT = String(config.PONDER_PORT);
  process.env.PONDER_TELEMETRY_DISABLED = "1";
  await start({
    cliOptions: {
      command: "start",
      version: ponderVersion,
      config: "ponder.config.ts",
      schema,
      port: config.PONDER_PORT,
      hostname: config.PONDER_HOST,
      logFormat: "json",
    },
  });
}

async function main(): Promise<void> {
  const config = indexerConfig(process.env);
  const deployment = requireDeployment(config.DEPLOYMENT_FILE);
  const log = createLogger("indexer", config.LOG_LEVEL);
  endWithPresentBuild();

  if (buildHash(projectRoot, ponderVersion) !== builtFrom) {
    // Ponder's own check is by the files; the rows and the schema's name are by the bundle.
    throw new ConfigError([
      "the indexer's sources have changed since they were bundled: run `npm run build`",
    ]);
  }
  if (!(await isPortFree(config.PONDER_PORT))) {
    // Ponder would take the next port, and health checks would reach the other process.
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

  const reader = createReadClient(deployment, config.RPC_URL);
  const sources = await waitFor({
    what: "the feeds and shields (RPC_URL)",
    probe: () => findSources(reader, deployment, startBlock, (text) => log.warn(text)),
    timeoutMs: dependencyTimeoutMs,
    intervalMs: 500,
  });

  const schema = indexerSchemaName([builtFrom, patches], deployment, chain, sources);
  const guard = await lockSchema(config.DATABASE_URL, schema, () => {
    // No orderly shutdown: Ponder would clear the lock row of the indexer that has taken over.
    log.fatal({ schema }, "another indexer has taken over this schema");
    process.exit(exitCodes.schemaTaken);
  });
  process.env[SOURCES_VARIABLE] = await waitFor({
    what: "the database (DATABASE_URL)",
    probe: async () => {
      await clearStaleLock(guard.sql, schema);
      return prepareDatabase(config, deployment, schema, sources);
    },
    timeoutMs: dependencyTimeoutMs,
    intervalMs: 500,
  });
  const build = { schema, viewsSchema: config.VIEWS_SCHEMA };
  const views = connect(config.DATABASE_URL, { name: "indexer-views", max: 1 });
  const lastBlock = await waitFor({
    what: "the database (DATABASE_URL)",
    probe: () => beginCatchUp(views.sql, config.DATABASE_URL, { ...build, maxAge: config.INDEX_MAX_AGE }),
    timeoutMs: dependencyTimeoutMs,
    intervalMs: 500,
  });
  watchCatchUp(views.sql, build, {
    newestBlock: () => reader.getBlockNumber({ cacheTime: 0 }),
    onShown: () => {
      log.info({ schema }, "readers see the index");
      reportShown();
      void Promise.all([lastBlock.release(), views.close()]);
    },
    onFault: (error) => log.warn({ err: errorText(error) }, "readers cannot be shown the index yet"),
  });
  startHeartbeat(guard.sql, schema);
  countSessions(PONDER_SESSIONS + 2); // and the lock's, and that of the last block's snapshot
  await reportSessions(config.DATABASE_URL, log);
  watchSources(reader, deployment.contracts, sources, (what) => {
    log.warn(`${what}: the next build indexes it, and this one goes on until readers see that`);
    void startNextBuild(log, () => {
      log.fatal("readers see the next build: start again to go on with it");
      process.exit(exitCodes.newSource);
    });
  });
  log.info({ schema, viewsSchema: config.VIEWS_SCHEMA, port: config.PONDER_PORT }, "starting Ponder");
  await runPonder(config, schema);
}

main().catch((error: unknown) => {
  console.error(errorText(error));
  if (error instanceof Error && error.cause !== undefined) console.error(errorText(error.cause));
  process.exit(error instanceof SchemaTakenError ? exitCodes.schemaTaken : 1);
});

/** Starts a dev stack, as many parts as possible at once. */
import { rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { type DevConfig, devLimitNames } from "../../lib/config.ts";
import { errorText } from "../../lib/log.ts";
import { projectRoot } from "../../lib/project-root.ts";
import { isBuilt } from "../build/inputs.ts";
import { compile } from "../compile.ts";
import { tellIndexing } from "../fork/progress.ts";
import { exitCodes } from "../indexer/exit-codes.ts";
import { privateKeyOf } from "../local/anvil.ts";
import type { LocalChain } from "../local/chain.ts";
import { isRunning } from "../local/pids.ts";
import { startPostgres, stopPostgres } from "../local/postgres.ts";
import { type Child, exitMessage, startProcess } from "../local/processes.ts";
import { oracleSigner, serviceWallets } from "../local/service-wallets.ts";
import {
  type ServiceName,
  type StackSettings,
  serviceReady,
  startService,
  type TestnetSettings,
} from "../local/services.ts";
import { type ChainSource, type MainChain, startChains } from "./chains.ts";
import { deploymentFolder } from "./deployments.ts";
import { dropOwnSchemas } from "./drop-schemas.ts";
import { keepPricesFresh } from "./price-refresher.ts";
import type { ProcessRecord } from "./process-record.ts";
import { requireFreePorts } from "./required-ports.ts";
import { waitUntilHealthy } from "./stack-health.ts";
import { type StartedParts, Stopping } from "./started-parts.ts";

/** The folders in which a stack keeps its data. */
export function stackFolders(config: DevConfig) {
  const data = resolve(projectRoot, config.DATA_DIR);
  return {
    data,
    postgres: join(data, "postgres"),
    logs: join(data, "logs"),
    fork: join(data, "fork"),
    deployments: deploymentFolder(config),
  };
}

/** Between two checks that the embedded Postgres runs; as no child process of ours, it reports no exit. */
const postgresCheckMs = 2_000;
/** Longest wait for a fork's index: it asks the forked node for the token's price at each purchase. */
const INDEXED_WITHIN_MS = 4 * 60 * 60_000;

export type DevStack = {
  readonly config: DevConfig;
  readonly source: ChainSource;
  readonly record: ProcessRecord;
  readonly parts: StartedParts;
  /** Stops the whole stack, because one of its parts has ended. */
  readonly fail: (reason: string) => void;
};

const secondsSinceStart = () => `${process.uptime().toFixed(1)} s`;
const logStage = (stage: string) => console.log(`${secondsSinceStart().padStart(7)}  ${stage}`);

/** Starts the embedded Postgres, unless `DATABASE_URL` is set. @returns the URL of a database without our schemas. */
async function startDatabase({ config, record, parts, fail }: DevStack): Promise<string> {
  if (config.DATABASE_URL !== undefined) {
    await dropOwnSchemas(config.DATABASE_URL);
    return config.DATABASE_URL;
  }
  const folders = stackFolders(config);
  const { url } = await parts.start("server", async () => {
    const server = await startPostgres({
      dataDir: folders.postgres,
      port: config.POSTGRES_PORT,
      logFile: join(folders.logs, "postgres.log"),
    });
    record.add("postgres", server.pid);
    const check = setInterval(() => {
      if (!isRunning(server.pid)) fail(`postgres has ended; see ${server.logFile}`);
    }, postgresCheckMs);
    const stop = () => {
      clearInterval(check);
      return server.stop();
    };
    return { url: server.url, stop };
  });
  await dropOwnSchemas(url);
  logStage("database");
  return url;
}

/** Bundles the services in a separate session: Ctrl-C at the terminal must not reach the compiler before this process. */
async function buildServices({ config, parts }: DevStack): Promise<void> {
  const child = await parts.start("service", () =>
    startProcess({
      name: "build",
      command: process.execPath,
      args: [join("scripts", "build.ts")],
      cwd: projectRoot,
      logFile: join(stackFolders(config).logs, "build.log"),
    }),
  );
  const { code } = await child.exited;
  if (parts.stopping) throw new Stopping();
  if (code !== 0) throw new Error(exitMessage(child));
}

const failed = ({ fail }: DevStack, child: Child): void =>
  fail(exitMessage(child) ?? `${child.name} has ended`);

function watch(stack: DevStack, child: Child): void {
  stack.record.add(child.name, child.pid);
  void child.exited.then(() => failed(stack, child));
}

/** Why the indexer has to be started again, by its exit code. */
const restarts: Readonly<Record<number, string>> = {
  [exitCodes.newSource]:
    "a feed has a new aggregator, or a product a new adapter; it is indexed too from now on",
  [exitCodes.lostCommit]: "a commit failed; its blocks are read again",
};

async function runService(
  stack: DevStack,
  name: ServiceName,
  settings: StackSettings,
  timeoutMs?: number,
): Promise<void> {
  const { logs } = stackFolders(stack.config);
  const start = async (): Promise<Child> => {
    const child = await stack.parts.start("service", () => startService(name, settings, logs));
    stack.record.add(name, child.pid);
    void child.exited.then(({ code }) => {
      const reason = name === "indexer" ? restarts[code ?? 0] : undefined;
      if (reason === undefined || stack.parts.stopping) return failed(stack, child);
      logStage(`indexer starts again: ${reason}`);
      start().catch((error: unknown) => stack.fail(errorText(error)));
    });
    return child;
  };
  await serviceReady(await start(), name, settings, timeoutMs);
  logStage(name);
}

/** Runs the indexer, and says how far it is with the history of a fork. */
async function runIndexer(
  stack: DevStack,
  settings: StackSettings,
  { history }: Pick<MainChain, "history">,
): Promise<void> {
  if (history === undefined) return runService(stack, "indexer", settings);
  const done = new AbortController();
  const say = (text: string) => logStage(`index: ${text}`);
  void tellIndexing(`http://127.0.0.1:${settings.ponderPort}`, history, say, done.signal);
  await runService(stack, "indexer", settings, INDEXED_WITHIN_MS);
  done.abort();
}

const { relayer, keeper, sandbox, faucet } = serviceWallets;

/** The testnet's settings. None when the forked main chain has the testnet's chain id: the ledger identifies chains by it. */
function testnetSettings(main: LocalChain, testnet: LocalChain): TestnetSettings | undefined {
  if (main.deployment.chainId === testnet.deployment.chainId) return undefined;
  return {
    rpcUrl: testnet.url,
    deploymentFile: testnet.deploymentFile,
    relayerKeys: [privateKeyOf(relayer)],
    sandboxKey: privateKeyOf(sandbox),
    faucetKey: privateKeyOf(faucet),
  };
}

const testnetLines = (apiUrl: string) => `\
    sandbox           curl -X POST ${apiUrl}/sandbox/try
    faucet            curl ${apiUrl}/api/v1/faucet/claim -H 'content-type: application/json' -d '{"wallet":"0x…"}'
`;

const forkLines = `\
A fork of a live chain: anvil's accounts 2 to 9 have ether and USDC. Only local contracts let anybody mint USDC and set the token's
price, and have the specification's premiums.
`;

/** Starts all parts and prints their addresses once they are ready. */
export async function runStack(stack: DevStack): Promise<void> {
  const { config, source, parts } = stack;
  const folders = stackFolders(config);
  if (config.DATABASE_URL === undefined) await stopPostgres(folders.postgres); // left by an earlier run that was killed
  await requireFreePorts(config);
  // First, because solc blocks this process for seconds where the contracts have changed.
  compile();
  logStage("contracts");
  rmSync(folders.logs, { recursive: true, force: true }); // otherwise they grow with every start

  const [, databaseUrl, { main, testnet }] = await Promise.all([
    (isBuilt() ? Promise.resolve() : buildServices(stack)).then(() => logStage("build")),
    startDatabase(stack),
    startChains(source, {
      config,
      deploymentFolder: folders.deployments,
      logFolder: folders.logs,
      forkFolder: folders.fork,
      startPart: (stage, start) => parts.start(stage, start),
      onSpawn: (child) => watch(stack, child),
      say: logStage,
    }).then((chains) => {
      logStage("chains");
      return chains;
    }),
  ]);
  const settings: StackSettings = {
    databaseUrl,
    rpcUrl: main.url,
    rpcWsUrl: main.wsUrl,
    deploymentFile: main.deploymentFile,
    testnet: testnetSettings(main, testnet),
    redisUrl: config.REDIS_URL,
    host: config.HOST,
    apiPort: config.PORT,
    ponderPort: config.PONDER_PORT,
    metricsPort: config.METRICS_PORT,
    apiMetricsPort: config.API_METRICS_PORT,
    adminToken: config.ADMIN_TOKEN,
    relayerKeys: [privateKeyOf(relayer)],
    keeperKey: privateKeyOf(keeper),
    oracleKey: privateKeyOf(oracleSigner),
    logLevel: config.LOG_LEVEL,
    more: {
      api: Object.fromEntries(devLimitNames.map((name) => [name, String(config[name])])),
      indexer: { RPC_URL: main.indexerUrl },
    },
  };
  await Promise.all([
    runIndexer(stack, settings, main),
    runService(stack, "api", settings),
    // The writer waits for the history: its keeper would trigger and close the history's policies.
    main.writeHistory().then(() => runService(stack, "writer", settings)),
  ]);
  await Promise.all([
    parts.start("service", () => main.keepFresh()),
    parts.start("service", () => keepPricesFresh([testnet])),
  ]);
  const apiUrl = `http://127.0.0.1:${config.PORT}`;
  await waitUntilHealthy(apiUrl, { testnet: settings.testnet !== undefined });

  console.log(`
Ready in ${secondsSinceStart()}

  Dashboard           ${apiUrl}/
  API                 ${apiUrl}
    health            ${apiUrl}/health
    explorer          ${apiUrl}/api-docs
    OpenAPI document  ${apiUrl}/openapi.json
    admin token       ${config.ADMIN_TOKEN}
  Indexer (GraphQL)   http://127.0.0.1:${config.PONDER_PORT}/graphql
  Writer's metrics    http://127.0.0.1:${config.METRICS_PORT}/metrics
  API's metrics       http://127.0.0.1:${config.API_METRICS_PORT}/metrics
  Chain ${main.deployment.chainId}          ${main.url}
  Testnet ${testnet.deployment.chainId}       ${testnet.url}
${settings.testnet ? testnetLines(apiUrl) : ""}  Database            ${config.DATABASE_URL === undefined ? databaseUrl : "the one of DATABASE_URL"}
  Logs                ${folders.logs}

${main.faults.map((fault) => `${fault}\n`).join("")}${source.kind === "fork" ? forkLines : ""}In a second terminal: \`npm run demo\` plays a buyer's whole story, and \`npm run dev:price -- BTC -7%\` moves a price.
Ctrl-C stops everything.`);
}

/** The order in which a dev stack comes up: as much as possible side by side. */
import { rmSync } from "node:fs";
import { join, resolve } from "node:path";
import type { DevConfig } from "../../lib/config.ts";
import { projectRoot } from "../../lib/project-root.ts";
import { compile } from "../compile.ts";
import { privateKeyOf } from "../local/anvil.ts";
import { isRunning } from "../local/pids.ts";
import { startPostgres, stopPostgres } from "../local/postgres.ts";
import { type Child, deathNotice, startProcess } from "../local/processes.ts";
import { type LocalChain, startChains } from "./chains.ts";
import { type Lifetime, Stopping } from "./lifetime.ts";
import type { ChainSource } from "./options.ts";
import { requireFreePorts } from "./ports.ts";
import { keepPricesFresh } from "./price-keeper.ts";
import { stackReady } from "./ready.ts";
import type { RunNote } from "./run-note.ts";
import { dropOwnSchemas } from "./schemas.ts";
import {
  type ServiceName,
  type StackSettings,
  serviceReady,
  startService,
  type TestnetSettings,
} from "./services.ts";
import { serviceWallets } from "./wallets.ts";

/** Where a stack keeps what is its own. */
export function stackFolders({ DATA_DIR }: DevConfig) {
  const data = resolve(projectRoot, DATA_DIR);
  return {
    postgres: join(data, "postgres"),
    logs: join(data, "logs"),
    deployments: join(data, "deployments"),
    /** The note of its processes, for the next one. */
    note: join(data, "dev-stack.json"),
  };
}

/** How often the embedded Postgres, which is no child of ours, is looked after. */
const postgresLookMs = 2_000;
const services: readonly ServiceName[] = ["indexer", "api", "writer"];

export type DevStack = {
  readonly config: DevConfig;
  readonly source: ChainSource;
  readonly note: RunNote;
  readonly lifetime: Lifetime;
  /** Ends the whole stack, because a part of it is gone. */
  readonly fail: (reason: string) => void;
};

const secondsSinceStart = () => `${process.uptime().toFixed(1)} s`;
const say = (what: string) => console.log(`${secondsSinceStart().padStart(7)}  ${what}`);

/** Starts the embedded Postgres, unless there is a `DATABASE_URL`. @returns the URL of an emptied database. */
async function startDatabase({ config, note, lifetime, fail }: DevStack): Promise<string> {
  if (config.DATABASE_URL !== undefined) {
    await dropOwnSchemas(config.DATABASE_URL);
    return config.DATABASE_URL;
  }
  const folders = stackFolders(config);
  const { url } = await lifetime.own("server", async () => {
    const server = await startPostgres({
      dataDir: folders.postgres,
      port: config.POSTGRES_PORT,
      logFile: join(folders.logs, "postgres.log"),
    });
    note.add("postgres", server.pid);
    const look = setInterval(() => {
      if (!isRunning(server.pid)) fail(`postgres is gone; see ${server.logFile}`);
    }, postgresLookMs);
    const stop = () => {
      clearInterval(look);
      return server.stop();
    };
    return { url: server.url, stop };
  });
  await dropOwnSchemas(url);
  say("database");
  return url;
}

/** Bundles the services in a session of its own: Ctrl-C at the terminal would end the compiler before it reaches us. */
async function buildServices({ config, lifetime }: DevStack): Promise<void> {
  const child = await lifetime.own("service", () =>
    startProcess({
      name: "build",
      command: process.execPath,
      args: ["--import", "tsx", join("scripts", "build.ts")],
      cwd: projectRoot,
      logFile: join(stackFolders(config).logs, "build.log"),
    }),
  );
  const { code } = await child.exited;
  if (lifetime.stopping) throw new Stopping();
  if (code !== 0) throw new Error(deathNotice(child));
  say("build");
}

function watch({ note, fail }: DevStack, child: Child): void {
  note.add(child.name, child.pid);
  void child.exited.then(() => fail(deathNotice(child) ?? `${child.name} is gone`));
}

async function runService(stack: DevStack, name: ServiceName, settings: StackSettings): Promise<void> {
  const { logs } = stackFolders(stack.config);
  const child = await stack.lifetime.own("service", () => startService(name, settings, logs));
  watch(stack, child);
  await serviceReady(child, name, settings);
  say(name);
}

const { relayer, sandbox, faucet } = serviceWallets;

/** The testnet as api and writer get it; none beside the fork of a chain with its number, for the ledger tells chains apart by it. */
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

/** Starts everything and says where it is once all of it is ready. */
export async function runStack(stack: DevStack): Promise<void> {
  const { config, source, lifetime } = stack;
  const folders = stackFolders(config);
  if (config.DATABASE_URL === undefined) await stopPostgres(folders.postgres); // a former run's, if it was killed
  await requireFreePorts(config);
  // Done before anything is waited for: solc, where the contracts have changed, holds this process up for seconds.
  compile();
  say("contracts");
  rmSync(folders.logs, { recursive: true, force: true }); // of the last start; they would grow without end

  const [, databaseUrl, { main, testnet }] = await Promise.all([
    buildServices(stack),
    startDatabase(stack),
    startChains(source, {
      config,
      deploymentFolder: folders.deployments,
      logFolder: folders.logs,
      own: (start) => lifetime.own("server", start),
      onSpawn: (child) => watch(stack, child),
    }).then((chains) => {
      say("chains");
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
    adminToken: config.ADMIN_TOKEN,
    relayerKeys: [privateKeyOf(relayer)],
    logLevel: config.LOG_LEVEL,
    more: {
      api: {
        PUBLIC_RATE_LIMIT: String(config.PUBLIC_RATE_LIMIT),
        LIVE_SCAN_RATE_LIMIT: String(config.LIVE_SCAN_RATE_LIMIT),
      },
    },
  };
  // The processes come up while the history is being written.
  await Promise.all([
    main.writeHistory().then(() => say("history")),
    ...services.map((name) => runService(stack, name, settings)),
  ]);
  await lifetime.own("service", () => keepPricesFresh([main, testnet]));
  const apiUrl = `http://127.0.0.1:${config.PORT}`;
  await stackReady(apiUrl, { testnet: settings.testnet !== undefined });

  console.log(`
Ready in ${secondsSinceStart()}

  API                 ${apiUrl}
    health            ${apiUrl}/health
    explorer          ${apiUrl}/api-docs
    OpenAPI document  ${apiUrl}/openapi.json
    admin token       ${config.ADMIN_TOKEN}
  Indexer (GraphQL)   http://127.0.0.1:${config.PONDER_PORT}/graphql
  Writer's metrics    http://127.0.0.1:${config.METRICS_PORT}/metrics
  Chain ${main.deployment.chainId}          ${main.url}
  Testnet ${testnet.deployment.chainId}       ${testnet.url}
${settings.testnet ? testnetLines(apiUrl) : ""}  Database            ${config.DATABASE_URL === undefined ? databaseUrl : "the one of DATABASE_URL"}
  Logs                ${folders.logs}

\`npm run demo\` in a second terminal buys a policy. Ctrl-C stops everything.`);
}

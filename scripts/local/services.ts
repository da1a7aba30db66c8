/** Starts the three processes of the service as in production, and waits until they are ready. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Hex } from "viem";
import { asApi } from "../../lib/db/api-role.ts";
import { projectRoot } from "../../lib/project-root.ts";
import { type Child, exitMessage, startProcess } from "./processes.ts";
import { waitFor } from "./wait.ts";

export type ServiceName = "indexer" | "api" | "writer";

/** The chain of sandbox and faucet, and the keys of its wallets. Without its key the sandbox or faucet is disabled. */
export type TestnetSettings = {
  readonly rpcUrl: string;
  readonly deploymentFile: string;
  readonly relayerKeys: readonly Hex[];
  readonly sandboxKey: Hex | undefined;
  readonly faucetKey: Hex | undefined;
};

/** Settings that a stack's processes share. */
export type StackSettings = {
  readonly databaseUrl: string;
  readonly rpcUrl: string;
  readonly rpcWsUrl: string;
  readonly deploymentFile: string;
  /** Without it there is neither sandbox nor faucet. */
  readonly testnet?: TestnetSettings;
  readonly redisUrl: string | undefined;
  readonly host: string;
  readonly apiPort: number;
  readonly ponderPort: number;
  /** Of the writer. */
  readonly metricsPort: number;
  readonly apiMetricsPort: number;
  readonly adminToken: string;
  readonly relayerKeys: readonly Hex[];
  /** The key of the keeper's wallet on the main chain; without it there is no keeper. */
  readonly keeperKey?: Hex;
  /** Signs prices; without it the service signs none. */
  readonly oracleKey?: Hex;
  readonly logLevel: string;
  /** More environment variables, by process. */
  readonly more?: Partial<Record<ServiceName, Readonly<Record<string, string>>>>;
};

/** Ponder's shortest polling interval, because people and tests wait for the index. */
const pollingIntervalMs = 100;
/** An empty variable counts as unset; it hides a variable of that name in the developer's environment. */
const unset = "";

function environment(name: ServiceName, settings: StackSettings): Record<string, string> {
  const { testnet } = settings;
  const shared = {
    DATABASE_URL: name === "api" ? asApi(settings.databaseUrl) : settings.databaseUrl,
    REDIS_URL: settings.redisUrl ?? unset,
    VIEWS_SCHEMA: "indexer",
    RPC_URL: settings.rpcUrl,
    DEPLOYMENT_FILE: settings.deploymentFile,
    LOG_LEVEL: settings.logLevel,
    PORT: unset,
    SIGNER_URL: unset,
    RELAYER_PRIVATE_KEYS: unset,
    RELAYER_PUBLIC_KEYS: unset,
    KEEPER_PRIVATE_KEY: unset,
    KEEPER_PUBLIC_KEY: unset,
    TESTNET_RPC_URL: unset,
    TESTNET_DEPLOYMENT_FILE: unset,
    TESTNET_RELAYER_PRIVATE_KEYS: unset,
    TESTNET_RELAYER_PUBLIC_KEYS: unset,
    SANDBOX_PRIVATE_KEY: unset,
    SANDBOX_PUBLIC_KEY: unset,
    FAUCET_PRIVATE_KEY: unset,
    FAUCET_PUBLIC_KEY: unset,
    ORACLE_PRIVATE_KEY: unset,
    ORACLE_PUBLIC_KEY: unset,
  };
  const testnetChain = {
    TESTNET_RPC_URL: testnet?.rpcUrl ?? unset,
    TESTNET_DEPLOYMENT_FILE: testnet?.deploymentFile ?? unset,
  };
  const own: Record<ServiceName, Record<string, string>> = {
    indexer: {
      RPC_WS_URL: settings.rpcWsUrl,
      PONDER_PORT: String(settings.ponderPort),
      PONDER_HOST: "127.0.0.1",
      POLLING_INTERVAL_MS: String(pollingIntervalMs),
      START_BLOCK: unset,
    },
    api: {
      ...testnetChain,
      DATABASE_READ_URL: unset,
      PORT: String(settings.apiPort),
      HOST: settings.host,
      ADMIN_TOKEN: settings.adminToken,
      TRUST_PROXY: unset,
      API_METRICS_PORT: String(settings.apiMetricsPort),
      METRICS_HOST: "127.0.0.1",
    },
    writer: {
      ...testnetChain,
      RELAYER_PRIVATE_KEYS: settings.relayerKeys.join(","),
      KEEPER_PRIVATE_KEY: settings.keeperKey ?? unset,
      TESTNET_RELAYER_PRIVATE_KEYS: testnet?.relayerKeys.join(",") ?? unset,
      SANDBOX_PRIVATE_KEY: testnet?.sandboxKey ?? unset,
      FAUCET_PRIVATE_KEY: testnet?.faucetKey ?? unset,
      ORACLE_PRIVATE_KEY: settings.oracleKey ?? unset,
      METRICS_PORT: String(settings.metricsPort),
      METRICS_HOST: "127.0.0.1",
    },
  };
  return { ...shared, ...own[name], ...settings.more?.[name] };
}

/** The caller's environment without vitest's variables, so that the processes run as in production. */
function inherited(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(NODE_ENV|VITEST.*)$/.test(name)),
  );
}

/** Starts a process from its bundle (`npm run build`); its output goes to `<logFolder>/<name>.log`. */
export function startService(name: ServiceName, settings: StackSettings, logFolder: string): Promise<Child> {
  return startProcess({
    name,
    command: process.execPath,
    args: [join(projectRoot, "scripts", "start.mjs"), name],
    cwd: projectRoot,
    env: { ...inherited(), ...environment(name, settings) },
    logFile: join(logFolder, `${name}.log`),
  });
}

/** True once this process has logged that it is ready. The file may hold the same line of an earlier process. */
const loggedReady = ({ logFile, pid }: Child) =>
  readFileSync(logFile, "utf8")
    .split("\n")
    .some((line) => line.includes(`"pid":${pid},`) && line.includes('"msg":"the writer is ready"'));

async function responds(url: string, { ok = false } = {}): Promise<true | undefined> {
  const response = await fetch(url, { signal: AbortSignal.timeout(5_000) });
  await response.body?.cancel();
  return response.ok || !ok ? true : undefined;
}

/**
 * Waits until a process is ready: the api answers `GET /health` with any status, the indexer has finished its backfill, or
 * the writer takes jobs.
 * @throws with the end of its output when it has ended, and on the timeout.
 */
export async function serviceReady(
  child: Child,
  name: ServiceName,
  settings: StackSettings,
  timeoutMs = 240_000,
) {
  const probes: Record<ServiceName, () => Promise<true | undefined> | true | undefined> = {
    api: () => responds(`http://127.0.0.1:${settings.apiPort}/health`),
    indexer: () => responds(`http://127.0.0.1:${settings.ponderPort}/ready`, { ok: true }),
    writer: () => (loggedReady(child) ? true : undefined),
  };
  await waitFor({
    what: `the ${name} to be ready; its output is in ${child.logFile}`,
    probe: probes[name],
    giveUpReason: () => exitMessage(child),
    timeoutMs,
    intervalMs: 50,
  });
}

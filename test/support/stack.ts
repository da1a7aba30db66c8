/** The service's real processes for one test file: own database, own ports, own output files. */
import { mkdtempSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Hex } from "viem";
import { inject } from "vitest";
import { DEV_ADMIN_TOKEN } from "../../lib/config.ts";
import {
  type ServiceName,
  type StackSettings,
  serviceReady,
  startService,
  type TestnetSettings,
} from "../../scripts/dev/services.ts";
import { serviceWallets } from "../../scripts/dev/wallets.ts";
import { privateKeyOf } from "../../scripts/local/anvil.ts";
import { freePorts } from "../../scripts/local/ports.ts";
import type { Child } from "../../scripts/local/processes.ts";
import type { TestChain } from "./chain.ts";
import { atEnd, showOnFailure } from "./cleanup.ts";
import { freshDatabase } from "./database.ts";
import { type HttpAnswer, type HttpRequest, http } from "./http.ts";
import { redisOf } from "./redis.ts";
import { forgetPid, notePid } from "./run-folder.ts";

export type StackOptions = {
  readonly chain: TestChain;
  /** The processes to start; all three when left out. */
  readonly services?: readonly ServiceName[];
  /** Puts queues and limits on a Redis, one for all stacks of a database; needs `describeWithRedis` around it. */
  readonly redis?: boolean;
  /** Of a database made before; a fresh one when left out. */
  readonly databaseUrl?: string;
  /** Another way to the chain than straight to it, for tests that put a proxy in between. */
  readonly rpcUrl?: string;
  /** Keys of the writer's wallets; the relayer that the deployment authorised when left out. */
  readonly relayerKeys?: readonly Hex[];
  /** The chain of sandbox and faucet: one of 84532; neither of the two when left out. */
  readonly testnet?: TestChain;
  /** Another way to the testnet than straight to it. */
  readonly testnetRpcUrl?: string;
  /** Keys of the testnet's wallets instead of those of `serviceWallets`; null leaves a wallet out, [] the relayers. */
  readonly testnetKeys?: {
    readonly relayers?: readonly Hex[];
    readonly sandbox?: Hex | null;
    readonly faucet?: Hex | null;
  };
  /** Environment variables over and above the stack's own, by process. */
  readonly env?: Partial<Record<ServiceName, Readonly<Record<string, string>>>>;
};

export type Stack = {
  readonly settings: StackSettings;
  readonly databaseUrl: string;
  readonly apiUrl: string;
  readonly ponderUrl: string;
  /** Where the writer tells its metrics. */
  readonly metricsUrl: string;
  /** One request to the api: `stack.request("/health")`. */
  readonly request: (path: string, request?: HttpRequest) => Promise<HttpAnswer>;
  /** Starts a process that does not run, and waits until it is ready unless told not to. */
  readonly start: (name: ServiceName, options?: { wait?: boolean }) => Promise<Child>;
  /** Asks a process to stop with SIGTERM and waits for its end. */
  readonly stopService: (name: ServiceName) => Promise<void>;
  /** Kills a process as a crash would. */
  readonly kill9: (name: ServiceName) => Promise<void>;
  readonly restart: (name: ServiceName) => Promise<Child>;
  /** All that a process has written so far, of every start. */
  readonly output: (name: ServiceName) => string;
  /** Stops all processes; done by itself when the test file ends. */
  readonly stop: () => Promise<void>;
};

/** Tests come from one address, and in numbers; those of the limits themselves set their own. */
const unlimited = {
  PUBLIC_RATE_LIMIT: "1000000000",
  LIVE_SCAN_RATE_LIMIT: "1000000000",
  FAILED_CREDENTIALS_LIMIT: "1000000000",
  FREE_KEY_RATE_LIMIT: "1000000000",
  PAID_KEY_RATE_LIMIT: "1000000000",
  ONBOARD_RATE_LIMIT: "1000000000",
  SANDBOX_RATE_LIMIT: "1000000000",
};
/** Gas of a local chain is free: only the tests of the budgets come to their end. In ether a day. */
const rich = { GAS_BUDGET_ETH: "1000000", GAS_BUDGET_PER_WALLET_ETH: "1000000" };

const everything: readonly ServiceName[] = ["indexer", "api", "writer"];

/** What the processes are told of the testnet. */
function testnetSettings(options: StackOptions): TestnetSettings | undefined {
  const { testnet, testnetRpcUrl, testnetKeys = {} } = options;
  if (!testnet) return undefined;
  const { sandbox = privateKeyOf(serviceWallets.sandbox), faucet = privateKeyOf(serviceWallets.faucet) } =
    testnetKeys;
  return {
    rpcUrl: testnetRpcUrl ?? testnet.url,
    deploymentFile: testnet.deploymentFile,
    relayerKeys: testnetKeys.relayers ?? [testnet.relayerKey],
    sandboxKey: sandbox ?? undefined,
    faucetKey: faucet ?? undefined,
  };
}

/** Starts the service's processes side by side and waits until all are ready. */
export async function startStack(options: StackOptions): Promise<Stack> {
  const { chain, services = everything } = options;
  const runFolder = inject("runFolder");
  const [apiPort, ponderPort, metricsPort] = await freePorts(3);
  if (apiPort === undefined || ponderPort === undefined || metricsPort === undefined) {
    throw new Error("no free ports");
  }
  // A port can come twice in a run, once its first stack has ended.
  const logFolder = mkdtempSync(join(runFolder, `stack-${apiPort}-`));

  const databaseUrl = options.databaseUrl ?? (await freshDatabase());
  const settings: StackSettings = {
    databaseUrl,
    rpcUrl: options.rpcUrl ?? chain.url,
    // Polled: over a websocket Ponder reads the newest 30 blocks after its start only once another block is mined.
    rpcWsUrl: "",
    deploymentFile: chain.deploymentFile,
    testnet: testnetSettings(options),
    redisUrl: await redisOf(databaseUrl, { wanted: options.redis }),
    host: "127.0.0.1",
    apiPort,
    ponderPort,
    metricsPort,
    adminToken: DEV_ADMIN_TOKEN,
    relayerKeys: options.relayerKeys ?? [chain.relayerKey],
    logLevel: "info",
    more: {
      ...options.env,
      api: { ...unlimited, ...options.env?.api },
      writer: { ...rich, ...options.env?.writer },
    },
  };

  const running = new Map<ServiceName, Child>();
  const logFile = (name: ServiceName) => join(logFolder, `${name}.log`);

  async function start(name: ServiceName, { wait = true } = {}): Promise<Child> {
    if (running.has(name)) throw new Error(`${name} is running already`);
    const child = await startService(name, settings, logFolder);
    running.set(name, child);
    notePid(runFolder, child.pid);
    showOnFailure(name, child.logFile);
    if (wait) await serviceReady(child, name, settings);
    return child;
  }
  async function end(name: ServiceName, how: (child: Child) => Promise<unknown>): Promise<void> {
    const child = running.get(name);
    if (!child) return;
    running.delete(name);
    await how(child);
    forgetPid(runFolder, child.pid);
  }
  const stopService = (name: ServiceName) => end(name, (child) => child.stop());
  const stop = async () => {
    await Promise.all([...running.keys()].map(stopService));
  };

  atEnd(stop);
  await Promise.all(services.map((name) => start(name)));
  const apiUrl = `http://127.0.0.1:${apiPort}`;
  return {
    settings,
    databaseUrl,
    apiUrl,
    ponderUrl: `http://127.0.0.1:${ponderPort}`,
    metricsUrl: `http://127.0.0.1:${metricsPort}/metrics`,
    request: (path, request) => http(`${apiUrl}${path}`, request),
    start,
    stopService,
    kill9: (name) => end(name, (child) => child.kill9()),
    async restart(name) {
      await stopService(name);
      return start(name);
    },
    output: (name) => readFileSync(logFile(name), "utf8"),
    stop,
  };
}

/** The service's processes on this machine, started and stopped by name: the base of the tests' and the benchmarks' stacks. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DEV_ADMIN_TOKEN } from "../../lib/off-local.ts";
import { exitCodes } from "../indexer/exit-codes.ts";
import { privateKeyOf } from "./anvil.ts";
import { freePorts } from "./ports.ts";
import type { Child } from "./processes.ts";
import { serviceWallets } from "./service-wallets.ts";
import { type ServiceName, type StackSettings, serviceReady, startService } from "./services.ts";

export type ServiceStack = {
  readonly settings: StackSettings;
  readonly apiUrl: string;
  readonly ponderUrl: string;
  /** The writer's metrics. */
  readonly metricsUrl: string;
  readonly apiMetricsUrl: string;
  /** Starts a process that is not running, and waits until it is ready unless `wait` is false. */
  readonly start: (name: ServiceName, options?: { wait?: boolean }) => Promise<Child>;
  /** Sends SIGTERM to a process and waits until it has ended. */
  readonly stopService: (name: ServiceName) => Promise<void>;
  /** Kills a process as a crash would. */
  readonly kill9: (name: ServiceName) => Promise<void>;
  readonly restart: (name: ServiceName, options?: { wait?: boolean }) => Promise<Child>;
  /** The process of this name, which may have ended by itself; undefined before its start and once the stack has ended it. */
  readonly running: (name: ServiceName) => Child | undefined;
  /** The whole output of a process, over all its starts. */
  readonly output: (name: ServiceName) => string;
  readonly stop: () => Promise<void>;
};

/** Called for each process that starts, and for each one that the stack has ended. */
export type ProcessHooks = {
  readonly onStart?: (child: Child) => void;
  readonly onEnd?: (child: Child) => void;
};

type Required = Pick<StackSettings, "databaseUrl" | "rpcUrl" | "deploymentFile">;

/** Settings with free ports and, where nothing else is given, one relayer wallet, queues on Postgres and no testnet. */
export async function localSettings(given: Required & Partial<StackSettings>): Promise<StackSettings> {
  const [apiPort = 0, ponderPort = 0, metricsPort = 0, apiMetricsPort = 0] = await freePorts(4);
  return {
    // Polled: over a websocket Ponder reads the newest 30 blocks after its start only once another block is mined.
    rpcWsUrl: "",
    redisUrl: undefined,
    host: "127.0.0.1",
    apiPort,
    ponderPort,
    metricsPort,
    apiMetricsPort,
    adminToken: DEV_ADMIN_TOKEN,
    relayerKeys: [privateKeyOf(serviceWallets.relayer)],
    logLevel: "info",
    ...given,
  };
}

/**
 * A stack in which no process runs yet. Output goes to `<logFolder>/<name>.log`. As a supervisor would, it starts the indexer
 * again after a commit that failed.
 */
export function createServiceStack(
  settings: StackSettings,
  logFolder: string,
  { onStart, onEnd }: ProcessHooks = {},
): ServiceStack {
  const running = new Map<ServiceName, Child>();

  async function start(name: ServiceName, { wait = true } = {}): Promise<Child> {
    if (running.has(name)) throw new Error(`${name} is already running`);
    const child = await startService(name, settings, logFolder);
    running.set(name, child);
    onStart?.(child);
    void child.exited.then(({ code }) => {
      if (code === exitCodes.lostCommit && running.get(name) === child) return restart(name, { wait: false });
    });
    if (wait) await serviceReady(child, name, settings);
    return child;
  }
  async function end(name: ServiceName, how: (child: Child) => Promise<unknown>): Promise<void> {
    const child = running.get(name);
    if (!child) return;
    running.delete(name);
    await how(child);
    onEnd?.(child);
  }
  const stopService = (name: ServiceName) => end(name, (child) => child.stop());
  async function restart(name: ServiceName, options?: { wait?: boolean }): Promise<Child> {
    await stopService(name);
    return start(name, options);
  }
  return {
    settings,
    apiUrl: `http://127.0.0.1:${settings.apiPort}`,
    ponderUrl: `http://127.0.0.1:${settings.ponderPort}`,
    metricsUrl: `http://127.0.0.1:${settings.metricsPort}/metrics`,
    apiMetricsUrl: `http://127.0.0.1:${settings.apiMetricsPort}/metrics`,
    start,
    stopService,
    kill9: (name) => end(name, (child) => child.kill9()),
    restart,
    running: (name) => running.get(name),
    output: (name) => readFileSync(join(logFolder, `${name}.log`), "utf8"),
    async stop() {
      await Promise.all([...running.keys()].map(stopService));
    },
  };
}

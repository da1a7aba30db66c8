/** The stack that a benchmark measures: Postgres, a chain with the protocol, and processes of the service. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres, { type Sql } from "postgres";
import type { HDAccount } from "viem/accounts";
import { anvilAccount } from "../lib/chain/client.ts";
import { StartedParts } from "../scripts/dev/started-parts.ts";
import { type AnvilOptions, startAnvil } from "../scripts/local/anvil.ts";
import { deployOnAnvil, type LocalChain } from "../scripts/local/chain.ts";
import { freePort } from "../scripts/local/ports.ts";
import { type PostgresOptions, startPostgres } from "../scripts/local/postgres.ts";
import { type Child, startProcess } from "../scripts/local/processes.ts";
import { openProtocol, type Protocol } from "../scripts/local/protocol/actions/index.ts";
import { createServiceStack, localSettings, type ServiceStack } from "../scripts/local/service-stack.ts";
import type { ServiceName, StackSettings } from "../scripts/local/services.ts";

/** What the running benchmark has started: clients and services stop before the servers that they use. */
let parts = new StartedParts();
let folder: string | undefined;

/** Starts a part that ends with the benchmark, also when that is interrupted while the part starts. */
export const startPart = <T extends { stop: () => Promise<unknown> }>(
  start: () => Promise<T>,
  stage: "service" | "server" = "service",
): Promise<T> => parts.start(stage, start);

/** Registers what must be stopped with the benchmark. */
export const atEnd = async (stop: () => Promise<unknown> | unknown): Promise<void> =>
  void (await startPart(async () => ({ stop: async () => stop() })));

/** Makes the folder for the benchmark's logs and other files; deleted in the end. */
export function makeFolder(): string {
  folder = mkdtempSync(join(tmpdir(), "bench-"));
  return folder;
}

/** Stops everything that the benchmark has started. */
export async function endStack(): Promise<void> {
  await parts.stop();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
}

/** Runs a benchmark, and stops what it has started. */
export async function withParts(measure: () => Promise<void>): Promise<void> {
  parts = new StartedParts();
  try {
    await measure();
  } finally {
    await endStack();
  }
}

/** Starts a program of this folder in a process of its own. */
export const startProgram = (
  stack: { folder: string },
  file: string,
  args: readonly string[],
): Promise<Child> =>
  startPart(() =>
    startProcess({
      name: file,
      command: process.execPath,
      args: [join("bench", file), ...args],
      logFile: join(stack.folder, `${file}.log`),
    }),
  );

export type BenchStackOptions = Pick<AnvilOptions, "timestamp" | "gasLimit"> & {
  /** The number of wallets on the router's allowlist: anvil's accounts from 1 on. One when left out. */
  readonly relayers?: number;
  /** See `deployOnAnvil`. */
  readonly local?: boolean;
  readonly postgres?: PostgresOptions["settings"];
};

export type BenchStack = {
  readonly folder: string;
  readonly databaseUrl: string;
  readonly sql: Sql;
  /** Ids of Postgres, anvil, and the processes of the service that run, by name. */
  readonly processes: Map<string, number>;
  readonly chain: LocalChain;
  readonly protocol: Protocol;
  /** Anvil's account 0: owns every contract. */
  readonly owner: HDAccount;
  readonly relayers: readonly HDAccount[];
  /** Starts processes of the service and waits until they are ready. */
  readonly startServices: (
    names: readonly ServiceName[],
    settings?: Partial<StackSettings>,
  ) => Promise<ServiceStack>;
};

/** Starts the stack, runs `measure` on it, and stops it with everything that was started. All products are on sale. */
export const withBenchStack = (
  options: BenchStackOptions,
  measure: (stack: BenchStack) => Promise<void>,
): Promise<void> =>
  withParts(async () => {
    const folder = makeFolder();
    const server = await startPart(async () => {
      const { remove, ...started } = await startPostgres({
        dataDir: join(folder, "postgres"),
        port: await freePort(),
        logFile: join(folder, "postgres.log"),
        settings: options.postgres,
      });
      return { ...started, stop: remove };
    }, "server");
    const anvil = await startPart(
      async () =>
        startAnvil({
          chainId: 8453,
          port: await freePort(),
          logFile: join(folder, "anvil.log"),
          timestamp: options.timestamp,
          gasLimit: options.gasLimit,
        }),
      "server",
    );
    const relayers = Array.from({ length: options.relayers ?? 1 }, (_, n) => anvilAccount(1 + n));
    const chain = await deployOnAnvil(anvil, {
      name: "Bench",
      relayers: relayers.map(({ address }) => address),
      retired: false,
      local: options.local,
      deploymentFile: join(folder, "deployment.json"),
    });
    // A million rows take longer to fill than the login's time limits allow.
    // An hour: postgres.js does not send a 0.
    const connection = { statement_timeout: 3_600_000, idle_in_transaction_session_timeout: 3_600_000 };
    const sql = postgres(server.url, { max: 2, onnotice: () => {}, connection });
    await atEnd(() => sql.end());
    const processes = new Map([
      ["postgres", server.pid],
      ["anvil", anvil.pid],
    ]);
    const { url: rpcUrl, deploymentFile } = chain;
    await measure({
      folder,
      databaseUrl: server.url,
      sql,
      processes,
      chain,
      protocol: openProtocol(chain.deployment, chain.url),
      owner: anvilAccount(0),
      relayers,
      async startServices(names, settings) {
        const all = await localSettings({ databaseUrl: server.url, rpcUrl, deploymentFile, ...settings });
        const onStart = ({ name, pid }: Child) => void processes.set(name, pid);
        const services = await startPart(async () => createServiceStack(all, folder, { onStart }));
        for (const name of names) await startPart(() => services.start(name));
        return services;
      },
    });
  });

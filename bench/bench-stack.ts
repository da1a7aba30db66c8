/** The stack that a benchmark measures: Postgres, a chain with the protocol, and processes of the service. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres, { type Sql } from "postgres";
import type { HDAccount } from "viem/accounts";
import { anvilAccount } from "../lib/chain/client.ts";
import { type AnvilOptions, startAnvil } from "../scripts/local/anvil.ts";
import { deployOnAnvil, type LocalChain } from "../scripts/local/chain.ts";
import { freePort } from "../scripts/local/ports.ts";
import { type PostgresOptions, startPostgres } from "../scripts/local/postgres.ts";
import { openProtocol, type Protocol } from "../scripts/local/protocol/actions/index.ts";
import { createServiceStack, localSettings, type ServiceStack } from "../scripts/local/service-stack.ts";
import type { ServiceName, StackSettings } from "../scripts/local/services.ts";

export type BenchStackOptions = Pick<AnvilOptions, "timestamp"> & {
  /** The number of wallets on the router's allowlist: anvil's accounts from 1 on. One when left out. */
  readonly relayers?: number;
  /** See `deployOnAnvil`. */
  readonly local?: boolean;
  readonly postgres?: PostgresOptions["settings"];
};

export type BenchStack = {
  /** For logs and other files; deleted in the end. */
  readonly folder: string;
  readonly databaseUrl: string;
  readonly sql: Sql;
  /** Ids of Postgres, anvil, and the processes of the service that run, by name; a measurement adds others. */
  readonly processes: Map<string, number>;
  readonly chain: LocalChain;
  readonly protocol: Protocol;
  /** Anvil's account 0: owns every contract. */
  readonly owner: HDAccount;
  readonly relayers: readonly HDAccount[];
  /** Registers what the measurement has started; the last registered stops first. */
  readonly atEnd: (stop: () => Promise<unknown>) => void;
  /** Starts processes of the service and waits until they are ready. `instance`, such as "2", follows their names. */
  readonly startServices: (
    names: readonly ServiceName[],
    settings?: Partial<StackSettings>,
    instance?: string,
  ) => Promise<ServiceStack>;
};

/** Starts the stack, runs `measure` on it, and stops it with everything that was registered. All products are on sale. */
export async function withBenchStack<T>(
  options: BenchStackOptions,
  measure: (stack: BenchStack) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "bench-"));
  const stops: (() => Promise<unknown>)[] = [];
  const atEnd = (stop: () => Promise<unknown>) => void stops.push(stop);
  try {
    const server = await startPostgres({
      dataDir: join(folder, "postgres"),
      port: await freePort(),
      logFile: join(folder, "postgres.log"),
      settings: options.postgres,
    });
    atEnd(server.remove);
    const anvil = await startAnvil({
      chainId: 8453,
      port: await freePort(),
      logFile: join(folder, "anvil.log"),
      timestamp: options.timestamp,
    });
    atEnd(anvil.stop);
    const relayers = Array.from({ length: options.relayers ?? 1 }, (_, n) => anvilAccount(1 + n));
    const chain = await deployOnAnvil(anvil, {
      name: "Bench",
      relayers: relayers.map(({ address }) => address),
      retired: false,
      local: options.local,
      deploymentFile: join(folder, "deployment.json"),
    });
    const sql = postgres(server.url, { max: 2, onnotice: () => {} });
    const processes = new Map([
      ["postgres", server.pid],
      ["anvil", anvil.pid],
    ]);
    atEnd(() => sql.end());
    return await measure({
      folder,
      databaseUrl: server.url,
      sql,
      processes,
      chain,
      protocol: openProtocol(chain.deployment, chain.url),
      owner: anvilAccount(0),
      relayers,
      atEnd,
      async startServices(names, settings, instance = "") {
        const { url: rpcUrl, deploymentFile } = chain;
        const nameOf = (name: string) => `${name} ${instance}`.trim();
        const services = createServiceStack(
          await localSettings({ databaseUrl: server.url, rpcUrl, deploymentFile, ...settings }),
          join(folder, instance),
          {
            onStart: ({ name, pid }) => processes.set(nameOf(name), pid),
            onEnd({ name, pid }) {
              if (processes.get(nameOf(name)) === pid) processes.delete(nameOf(name));
            },
          },
        );
        atEnd(services.stop);
        await Promise.all(names.map((name) => services.start(name)));
        return services;
      },
    });
  } finally {
    for (const stop of stops.toReversed()) await stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** One or two apis and writers on one database, as an operator runs them on two machines. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { privateKeyOf } from "../scripts/local/anvil.ts";
import type { ServiceStack } from "../scripts/local/service-stack.ts";
import type { ServiceName, StackSettings } from "../scripts/local/services.ts";
import { waitFor } from "../scripts/local/wait.ts";
import type { BenchStack } from "./bench-stack.ts";
import { createKeysOf } from "./measure-purchases.ts";
import type { BuyerKey } from "./purchase-load.ts";
import type { PurchasesStack } from "./purchases-stack.ts";

export type Replicas = { readonly apis: 1 | 2; readonly writers: 0 | 1 | 2 };
/** Instance 1, and 2 where it has a process. */
export type Instances = readonly [ServiceStack, ...ServiceStack[]];

/** Fewer than the service's 10, so that a measurement waits less until its purchases are final. */
const CONFIRMATIONS = "3";

export type ReplicaOptions = {
  /** `shared`: each writer has the keys of all wallets, and the first one takes them. `own`: each has its own. */
  readonly wallets: "shared" | "own";
  /** Those of the benchmark's stack when left out. */
  readonly databaseUrl?: string;
  /** `DATABASE_READ_URL` of the apis. */
  readonly readUrl?: string;
  /** An instance that has stopped: the new one listens where it did. */
  readonly successorOf?: ServiceStack;
};

/** Starts the instance with this index, 0 or 1. */
export function startInstance(
  stack: PurchasesStack,
  { apis, writers }: Replicas,
  { wallets, databaseUrl, readUrl, successorOf }: ReplicaOptions,
  index: number,
): Promise<ServiceStack> {
  const names: ServiceName[] = [];
  if (index < apis) names.push("api");
  if (index < writers) names.push("writer");
  const shared = wallets === "shared" || writers === 1;
  const keys = stack.relayers.filter((_, n) => shared || n % writers === index).map(privateKeyOf);
  const settings: Partial<StackSettings> = {
    ...successorOf?.settings,
    ...(databaseUrl === undefined ? {} : { databaseUrl }),
    relayerKeys: keys,
    more: { api: { DATABASE_READ_URL: readUrl ?? "" }, writer: { CONFIRMATIONS } },
  };
  return stack.serve(stack.chain.url, { names, settings, instance: String(index + 1) });
}

/** Starts the instances one after the other, so that the first writer finds all wallets free. */
export async function startReplicas(
  stack: PurchasesStack,
  replicas: Replicas,
  options: ReplicaOptions,
): Promise<Instances> {
  const first = await startInstance(stack, replicas, options, 0);
  const two = replicas.apis === 2 || replicas.writers === 2;
  return two ? [first, await startInstance(stack, replicas, options, 1)] : [first];
}

/** Migrates the database, and creates the keys with which the buyers buy in the whole run. */
export async function prepareKeys(stack: PurchasesStack): Promise<BuyerKey[]> {
  const instances = await startReplicas(stack, { apis: 1, writers: 1 }, { wallets: "own" });
  const keys = await createKeysOf(stack, instances[0]);
  await stopAll(instances);
  return keys;
}

/**
 * Starts an indexer. Its deployment file does not call the chain local, because Ponder does not cache the RPC answers of a local chain: it
 * would read the whole chain again at each start.
 */
export function startIndexer(
  { folder, chain, startServices }: BenchStack,
  settings: Partial<StackSettings> = {},
): Promise<ServiceStack> {
  const deploymentFile = join(folder, "indexer-deployment.json");
  writeFileSync(deploymentFile, JSON.stringify({ ...chain.deployment, local: false }));
  return startServices(["indexer"], { ...settings, deploymentFile });
}

export const stopAll = (instances: Instances) => Promise.all(instances.map(({ stop }) => stop()));

/** Waits until the reads of these apis go to the standby. */
export const untilStandbyUsed = (apis: readonly ServiceStack[]) =>
  waitFor({
    what: "reads to go to the standby",
    probe: async () => {
      const texts = await Promise.all(
        apis.map(async ({ apiMetricsUrl }) => (await fetch(apiMetricsUrl)).text()),
      );
      return texts.every((text) => /^api_standby_used(\{.*\})? 1$/m.test(text)) || undefined;
    },
  });

/** Waits until the index has the chain's newest block. */
export async function untilIndexed({ sql, node }: PurchasesStack): Promise<void> {
  const newest = Number(await node.ask("eth_blockNumber", []));
  await waitFor({
    what: `the index to have block ${newest}`,
    probe: async () => {
      const [head] = await sql<{ number: string }[]>`select number::text from indexer.head`;
      return (head && Number(head.number) >= newest) || undefined;
    },
  });
}

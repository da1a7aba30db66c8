/** The processes that the scale benchmark kills under load: two apis, two writers, an indexer and a standby. */
import type { ServiceStack } from "../scripts/local/service-stack.ts";
import type { BenchStack } from "./bench-stack.ts";
import type { PurchasesStack } from "./purchases-stack.ts";
import { type Load, untilMinedAnew } from "./scale-measure-fault.ts";
import { type Instances, untilIndexed, untilStandbyUsed } from "./scale-services.ts";
import type { BenchStandby } from "./scale-standby.ts";

export const BOTH = { apis: 2, writers: 2 } as const;

export type Cluster = {
  readonly bench: BenchStack;
  readonly stack: PurchasesStack;
  readonly standby: BenchStandby;
  readonly indexer: ServiceStack;
  /** Two of them, with all wallets each. */
  readonly instances: Instances;
  readonly load: Load;
};

/** The id of a running process. @throws when it does not run. */
export function pidOf({ bench }: Pick<Cluster, "bench">, name: string): number {
  const pid = bench.processes.get(name);
  if (pid === undefined) throw new Error(`${name} does not run`);
  return pid;
}

/** The instance that has a writer with a wallet's lease. */
export async function ownerOf(cluster: Cluster): Promise<ServiceStack> {
  const rows = await cluster.stack.sql<{ pid: string }[]>`
    select distinct split_part(lease_owner, '-', -2) as pid from service.relayer_wallet where lease_until > now()`;
  const owner = cluster.instances.find((_, index) =>
    rows.some(({ pid }) => Number(pid) === pidOf(cluster, `writer ${index + 1}`)),
  );
  if (!owner) throw new Error("no writer has a wallet");
  return owner;
}

/** Waits until nothing is left of the fault before. */
export async function settle({ stack, instances, load }: Cluster): Promise<void> {
  await untilMinedAnew(load);
  await untilIndexed(stack);
  await untilStandbyUsed(instances);
}

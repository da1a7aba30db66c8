/** Where the keeper contract may observe policies: it settles those of a product's present adapter, if that one lets it. */
import type { Address } from "viem";
import { shieldAdapterAbi } from "../../abis/ShieldAdapter.ts";
import { shieldKeeperAbi } from "../../abis/ShieldKeeper.ts";
import type { ReadClient } from "../../lib/chain/client.ts";
import { findRevert, isEmptyAnswer } from "../../lib/chain/reverts.ts";
import { sellingAdapters } from "../../lib/chain/selling-adapters.ts";
import type { Contracts } from "../../lib/deployments.ts";
import { lower } from "../../lib/lower.ts";
import type { KeeperContext } from "./context.ts";
import type { DueTasks } from "./due-tasks.ts";

/** How often the contracts are asked, in ms: while there are triggers, and while there are none. */
const DUE_MS = 2_000;
const IDLE_MS = 60_000;

/** `adapters`: lower case. `fault`: why the keeper contract cannot observe the policies of all products. */
export type OpenAdapters = {
  readonly adapters: ReadonlySet<Address>;
  readonly fault: string | undefined;
};

const isKeeperOf =
  (client: ReadClient, keeper: Address) =>
  async (adapter: Address): Promise<boolean> => {
    try {
      const read = { address: adapter, abi: shieldAdapterAbi, functionName: "keeper" } as const;
      return lower(await client.readContract(read)) === lower(keeper);
    } catch (error) {
      if (findRevert(error) || isEmptyAnswer(error)) return false;
      throw error;
    }
  };

/** Rejects when the node does not answer. */
export async function readOpenAdapters(client: ReadClient, contracts: Contracts): Promise<OpenAdapters> {
  const { shieldKeeper } = contracts;
  const none = new Set<Address>();
  if (shieldKeeper === undefined)
    return { adapters: none, fault: "The deployment file names no keeper contract (shieldKeeper)." };
  const [isPaused, selling] = await Promise.all([
    client.readContract({ address: shieldKeeper, abi: shieldKeeperAbi, functionName: "paused" }),
    sellingAdapters(client, contracts),
  ]);
  if (isPaused) return { adapters: none, fault: `The keeper contract ${shieldKeeper} is paused.` };
  const adapters = selling.map(({ adapter }) => adapter);
  const are = await Promise.all(adapters.map(isKeeperOf(client, shieldKeeper)));
  const closed = adapters.filter((_, n) => !are[n]);
  return {
    adapters: new Set(adapters.filter((_, n) => are[n]).map(lower)),
    fault:
      closed.length === 0
        ? undefined
        : `The keeper contract ${shieldKeeper} is not the keeper of ${closed.join(", ")}.`,
  };
}

/**
 * Leaves out the triggers that the keeper contract cannot do. Through a product's new adapter it would evaluate another policy with
 * the same id; what was read before the change does no harm, because no policy of the new adapter can be observed for five minutes.
 */
export async function openTasks(context: KeeperContext, { head, tasks }: DueTasks): Promise<DueTasks> {
  const hasTriggers = tasks.some(({ purpose }) => purpose === "trigger");
  if (performance.now() - context.open.readAt > (hasTriggers ? DUE_MS : IDLE_MS)) {
    const open = await readOpenAdapters(context.chain.client, context.contracts);
    context.open = { ...open, readAt: performance.now() };
  }
  const { adapters } = context.open;
  return {
    head,
    tasks: tasks.filter(({ purpose, simulated }) => purpose !== "trigger" || adapters.has(simulated.to)),
  };
}

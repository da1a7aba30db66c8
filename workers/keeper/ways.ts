/** By which calls the keeper may observe policies: the keeper contract's, the adapter's own, or the router's. */
import type { Address } from "viem";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { shieldAdapterAbi } from "../../abis/ShieldAdapter.ts";
import { shieldKeeperAbi } from "../../abis/ShieldKeeper.ts";
import type { ReadClient } from "../../lib/chain/client.ts";
import { findRevert, isEmptyAnswer } from "../../lib/chain/reverts.ts";
import { sellingAdapters } from "../../lib/chain/selling-adapters.ts";
import type { Contracts } from "../../lib/deployments.ts";
import { lower } from "../../lib/lower.ts";
import type { KeeperContext } from "./context.ts";
import type { DueTasks, DueWork } from "./due-tasks.ts";
import { triggerTask, type Way } from "./task.ts";

/** How often the contracts are asked, in ms: while there are triggers, and while there are none. */
const DUE_MS = 2_000;
const IDLE_MS = 60_000;

/** The first open way of each adapter, in lower case. `fault`: why not all products' policies can be observed. */
export type Ways = { readonly of: ReadonlyMap<Address, Way>; readonly fault: string | undefined };

/** Who may settle the policies of an adapter; undefined where it does not say. Rejects when the node does not answer. */
async function readSettler(
  client: ReadClient,
  adapter: Address,
  role: "keeper" | "relayer",
): Promise<Address | undefined> {
  try {
    return lower(await client.readContract({ address: adapter, abi: shieldAdapterAbi, functionName: role }));
  } catch (error) {
    if (findRevert(error) || isEmptyAnswer(error)) return undefined;
    throw error;
  }
}

/**
 * Reads by which way a wallet may observe the policies of the products' present adapters, and of others, which have been replaced.
 * Rejects when the node does not answer.
 */
export async function readWays(
  client: ReadClient,
  contracts: Contracts,
  wallet: Address,
  others: Iterable<Address> = [],
): Promise<Ways> {
  const { coverRouter, shieldKeeper } = contracts;
  const [isPaused, isRelayer, selling] = await Promise.all([
    shieldKeeper !== undefined &&
      client.readContract({ address: shieldKeeper, abi: shieldKeeperAbi, functionName: "paused" }),
    client.readContract({
      ...{ address: coverRouter, abi: coverRouterAbi, functionName: "authorizedRelayers", args: [wallet] },
    }),
    sellingAdapters(client, contracts),
  ]);
  const present = new Set(selling.map(({ adapter }) => lower(adapter)));
  const found = await Promise.all(
    [...new Set([...present, ...others])].map(async (adapter) => {
      const [keeper, relayer] = await Promise.all([
        readSettler(client, adapter, "keeper"),
        readSettler(client, adapter, "relayer"),
      ]);
      const isKeeper = shieldKeeper !== undefined && keeper === lower(shieldKeeper);
      return { adapter, isKeeper, isOurs: relayer === lower(wallet) };
    }),
  );
  const ways = found.flatMap(({ adapter, isKeeper, isOurs }): [Address, Way][] => {
    const isPresent = present.has(adapter);
    if (isPresent && isKeeper && !isPaused) return [[adapter, "upkeep"]];
    if (isOurs) return [[adapter, "adapter"]];
    return isPresent && isRelayer ? [[adapter, "router"]] : [];
  });
  const of = new Map(ways);
  const closed = found.filter(
    ({ adapter, isOurs }) => present.has(adapter) && of.get(adapter) !== "upkeep" && !isOurs,
  );
  return { of, fault: closed.length === 0 ? undefined : faultOf(shieldKeeper, isPaused, closed) };
}

function faultOf(
  shieldKeeper: Address | undefined,
  isPaused: boolean,
  closed: readonly { readonly adapter: Address }[],
): string {
  const adapters = closed.map(({ adapter }) => adapter).join(", ");
  const others = `and the wallet is not the relayer of ${adapters}.`;
  if (shieldKeeper === undefined)
    return `The deployment file names no keeper contract (shieldKeeper), ${others}`;
  if (isPaused) return `The keeper contract ${shieldKeeper} is paused, ${others}`;
  return `The keeper contract ${shieldKeeper} is not the keeper of ${adapters}, and the wallet is not their relayer.`;
}

/**
 * Makes the tasks of due policies, each by the first open way of its adapter. Through a product's new adapter another policy with the same
 * id would be evaluated; what was read before the change does no harm, because no policy of the new adapter can be observed for five
 * minutes.
 */
export async function withWays(
  context: KeeperContext,
  wallet: Address,
  { head, policies, others }: DueWork,
): Promise<DueTasks> {
  const { chain, contracts } = context;
  const adapters = new Set(policies.flatMap(({ shield }) => shield ?? []));
  const isNew = [...adapters].some((adapter) => !context.ways.asked.has(adapter));
  if (isNew || performance.now() - context.ways.readAt > (policies.length > 0 ? DUE_MS : IDLE_MS)) {
    const found = await readWays(chain.client, contracts, wallet, adapters);
    context.ways = { ...found, asked: new Set([...found.of.keys(), ...adapters]), readAt: performance.now() };
  }
  const { of } = context.ways;
  const triggers = policies.flatMap((policy) => {
    const way = policy.shield === null ? undefined : of.get(policy.shield);
    return (way && triggerTask(contracts, policy, { way, wallet })) ?? [];
  });
  return { head, tasks: [...triggers, ...others] };
}

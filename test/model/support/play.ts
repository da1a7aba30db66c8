/** Plays a random history, step by step. */
import { encodeFunctionData, erc20Abi, parseEther } from "viem";
import { bondVaultAbi } from "../../../abis/BondVault.ts";
import * as act from "../../../scripts/local/protocol/actions/index.ts";
import type { TestChain } from "../../support/chain.ts";
import * as admin from "./admin-actions.ts";
import * as bonds from "./bond-actions.ts";
import * as policies from "./policy-actions.ts";
import { refused } from "./refused-actions.ts";
import { type Action, type Draw, type Plan, players, type Scene, USDC } from "./scene.ts";
import { createChronicle, type Kind, kinds, type World } from "./world.ts";

const actions: Readonly<Record<Kind, Action>> = { ...policies, ...bonds, ...admin, refused };

/** What a kind weighs beside the others before it was done; one that many others need comes more often. */
const weights: Partial<Readonly<Record<Kind, number>>> = {
  purchase: 6,
  relayedPurchase: 4,
  trigger: 8,
  list: 6,
  buy: 6,
  queue: 8,
  processQueue: 8,
  resume: 6,
  pauseProduct: 0.5,
  endSale: 0.5,
  passYears: 0.5,
};

/** The deepest reorganisation. Ponder counts a block as final when 30 follow it, and no chain takes those back. */
export const DEEPEST = 12;

export type Play = {
  readonly protocol: act.Protocol;
  readonly world: () => World;
  /** Takes one step; resolves to what was done. */
  readonly step: (draw: Draw) => Promise<Kind>;
  /** `anvil_reorg`: so many of the newest blocks are replaced by empty ones, once `before` is done. */
  readonly reorganise: (depth: number, before: () => Promise<void>) => Promise<void>;
  /** Takes the steps, and when `before` is done takes the chain back to where it was. */
  readonly rewind: (draws: readonly Draw[], before: () => Promise<void>) => Promise<void>;
};

/** Gives everybody what they need. */
async function equip({ protocol, owner }: Pick<Scene, "protocol" | "owner">): Promise<void> {
  const { coverRouter, marketplace, policyManager, protocolToken } = protocol.deployment.contracts;
  for (const account of [...players, owner]) {
    await act.mintUsdc(protocol, owner, account.address, 10_000_000n * USDC);
    await act.approveUsdc(protocol, account, coverRouter);
    await act.approveUsdc(protocol, account, marketplace);
    await act.approveMarketplace(protocol, account);
    const data = encodeFunctionData({
      abi: erc20Abi,
      functionName: "transfer",
      args: [account.address, parseEther("1000")],
    });
    await act.send(protocol, owner, protocolToken, data);
  }
  await act.approveUsdc(protocol, owner, policyManager);
}

/** How many dollars of bonds the vault pays at once, and how much cover it can still sell. */
async function vaultLimits(protocol: act.Protocol): Promise<Pick<Scene, "payable" | "capacity">> {
  const vault = { abi: bondVaultAbi, address: protocol.deployment.contracts.bondVault } as const;
  const read = <
    Name extends
      | "throttleLeft"
      | "throttleEpoch"
      | "currentEpoch"
      | "queuedUsd"
      | "queuedThisEpochUsd"
      | "availableCapacityUSD",
  >(
    functionName: Name,
  ) => protocol.client.readContract({ ...vault, functionName });
  const [left, week, current, queued, queuedNow, capacity, { price }] = await Promise.all([
    read("throttleLeft"),
    read("throttleEpoch"),
    read("currentEpoch"),
    read("queuedUsd"),
    read("queuedThisEpochUsd"),
    read("availableCapacityUSD"),
    act.latestRound(protocol, "token"),
  ]);
  const due = week === current ? queued - queuedNow : queued;
  // A dollar is kept back for what is rounded.
  const payable = (left * price) / 10n ** 26n - due - 1n;
  return { payable: payable > 0n ? payable : 0n, capacity };
}

/** Chooses among what is possible now; what was seldom done is likelier. */
function choose(scene: Scene): { readonly kind: Kind; readonly plan: Plan } {
  const possible = kinds.flatMap((kind) => {
    const plan = actions[kind](scene);
    return plan ? [{ kind, plan, weight: (weights[kind] ?? 1) / (1 + (scene.world.done[kind] ?? 0)) }] : [];
  });
  const total = possible.reduce((sum, { weight }) => sum + weight, 0);
  let left = (scene.draw.kind / 2 ** 31) * total;
  for (const choice of possible) {
    left -= choice.weight;
    if (left < 0) return choice;
  }
  throw new Error("nothing can be done");
}

/**
 * Opens a play on a chain that was started with `retired: false`, at `beginning`, Unix seconds. From there on each block
 * is a second after the one before it: the same steps make the same history, however long they take.
 */
export async function openPlay(chain: TestChain, beginning: bigint): Promise<Play> {
  const protocol = act.openProtocol(chain.deployment, chain.url);
  const { client } = chain;
  const chronicle = createChronicle();
  await client.setBlockTimestampInterval({ interval: 1 });
  await act.mineAt(protocol, beginning);
  await equip({ protocol, owner: chain.owner });
  await act.refreshFeeds(protocol, chain.owner);
  // No reorganisation takes back what everybody was given.
  await client.mine({ blocks: DEEPEST });

  async function step(draw: Draw): Promise<Kind> {
    const world = chronicle.now();
    const now = await act.chainTime(protocol);
    const { owner, relayer } = chain;
    const scene = { protocol, owner, relayer, world, now, draw, ...(await vaultLimits(protocol)) };
    const choice = choose(scene);
    const { block, changed, kind = choice.kind } = await choice.plan();
    const done = { ...world.done, [kind]: (world.done[kind] ?? 0) + 1 };
    chronicle.note(block, { ...world, ...changed, done });
    return kind;
  }

  /** The blocks above this one are gone, and with them, it may be, those in which the feeds reported. */
  async function goOnFrom(block: bigint): Promise<void> {
    chronicle.goBackTo(block);
    await act.refreshFeeds(protocol, chain.owner);
  }

  return {
    protocol,
    world: chronicle.now,
    step,
    async reorganise(depth, before) {
      await before();
      const fork = (await client.getBlockNumber()) - BigInt(depth);
      await client.request<{ Method: "anvil_reorg"; Parameters: [number, never[]]; ReturnType: null }>({
        method: "anvil_reorg",
        params: [depth, []],
      });
      await goOnFrom(fork);
    },
    async rewind(draws, before) {
      const id = await act.snapshot(protocol);
      const fork = await client.getBlockNumber();
      for (const draw of draws) await step(draw);
      await before();
      await act.revertTo(protocol, id);
      await goOnFrom(fork);
    },
  };
}

/** A random history of actions on the protocol. */
import { encodeFunctionData, erc20Abi, parseEther } from "viem";
import { bondVaultAbi } from "../../../abis/BondVault.ts";
import type { TestChain } from "../../support/chain.ts";
import * as act from "../../support/protocol-actions.ts";
import { type Action, type ActionContext, type Draw, type Plan, USDC, users } from "./action.ts";
import * as admin from "./admin-actions.ts";
import * as bonds from "./bond-actions.ts";
import { createStateHistory, type Kind, kinds, type ModelState } from "./model-state.ts";
import { endOutage, outage } from "./outage.ts";
import * as policies from "./policy-actions.ts";
import { refused } from "./refused-actions.ts";

const actions: Readonly<Record<Kind, Action>> = { ...policies, ...bonds, ...admin, outage, refused };

/** The first weight of a kind, 1 when left out. Kinds that many others depend on are more likely. */
const weights: Partial<Readonly<Record<Kind, number>>> = {
  purchase: 6,
  relayedPurchase: 4,
  observe: 4,
  reset: 4,
  trigger: 8,
  submitTrigger: 4,
  list: 6,
  buy: 6,
  redeem: 4,
  queue: 8,
  processQueue: 8,
  resume: 6,
  endSale: 0.5,
  passYears: 0.5,
};

/** A dollar in the vault's units. */
const DOLLAR = 10n ** 18n;

/** The deepest reorganisation. It must stay below 30 blocks, beyond which Ponder counts a block as final. */
export const DEEPEST = 12;

export type RandomHistory = {
  readonly protocol: act.Protocol;
  readonly model: () => ModelState;
  /** Runs one random action. @returns its kind. */
  readonly step: (draw: Draw) => Promise<Kind>;
  /** Runs `before`, then replaces the newest `depth` blocks by empty ones (`anvil_reorg`). */
  readonly reorganise: (depth: number, before: () => Promise<void>) => Promise<void>;
  /** Runs the actions and `before`, then reverts the chain to its earlier state. */
  readonly rewind: (draws: readonly Draw[], before: () => Promise<void>) => Promise<void>;
};

/** Gives the users tokens and approvals. */
async function fundUsers({ protocol, owner }: Pick<ActionContext, "protocol" | "owner">): Promise<void> {
  const { coverRouter, marketplace, protocolToken } = protocol.deployment.contracts;
  for (const account of [...users, owner]) {
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
  // It burns tokens of the reserve.
  await act.setAuthorizedCaller(protocol, owner, owner.address, true);
}

/** What the vault still redeems this week, and its capacity for more cover. */
async function vaultLimits(
  protocol: act.Protocol,
): Promise<Pick<ActionContext, "throttle" | "shareOf" | "capacity">> {
  const { client, deployment } = protocol;
  const { bondVault, protocolToken } = deployment.contracts;
  const vault = { abi: bondVaultAbi, address: bondVault } as const;
  const token = { abi: erc20Abi, address: protocolToken } as const;
  const week = await client.readContract({ ...vault, functionName: "currentEpoch" });
  const [reserve, cap, redeemed, capacity, ...byUser] = await Promise.all([
    client.readContract({ ...token, functionName: "balanceOf", args: [bondVault] }),
    client.readContract({ ...vault, functionName: "maxRedeemThisEpoch" }),
    client.readContract({ ...vault, functionName: "redeemedInEpoch", args: [week] }),
    client.readContract({ ...vault, functionName: "availableCapacityUSD" }),
    ...users.map(({ address }) =>
      client.readContract({ ...vault, functionName: "redeemedByUserInEpoch", args: [week, address] }),
    ),
  ]);
  const rest = (whole: bigint, used: bigint) => (whole > used ? whole - used : 0n);
  const dollars = redeemed / DOLLAR;
  const used = new Map(users.map(({ address }, index) => [address, (byUser[index] ?? 0n) / DOLLAR]));
  return {
    throttle: { reserve, left: rest(cap, dollars), redeemed: dollars },
    shareOf: (user) => {
      const own = [...used].find(([address]) => address === user)?.[1] ?? 0n;
      return { used: own, left: rest(cap / 10n, own) };
    },
    capacity: capacity * USDC,
  };
}

/** Chooses among the possible actions. Rare kinds are more likely. */
function choose(context: ActionContext): { readonly kind: Kind; readonly plan: Plan } {
  const possible = kinds.flatMap((kind) => {
    const plan = actions[kind](context);
    return plan ? [{ kind, plan, weight: (weights[kind] ?? 1) / (1 + (context.model.done[kind] ?? 0)) }] : [];
  });
  const total = possible.reduce((sum, { weight }) => sum + weight, 0);
  let left = (context.draw.kind / 2 ** 31) * total;
  for (const choice of possible) {
    left -= choice.weight;
    if (left < 0) return choice;
  }
  throw new Error("no action is possible");
}

/**
 * Starts a history at `start` (Unix seconds) on a chain that was deployed with `retired: false`. Each block is a second
 * after the previous one, so that the same steps make the same history, however long they take.
 */
export async function startRandomHistory(chain: TestChain, start: bigint): Promise<RandomHistory> {
  const protocol = act.openProtocol(chain.deployment, chain.url);
  const { client } = chain;
  const states = createStateHistory();
  await client.setBlockTimestampInterval({ interval: 1 });
  await act.mineAt(protocol, start);
  await fundUsers({ protocol, owner: chain.owner });
  await act.refreshFeeds(protocol, chain.owner);
  // No reorganisation may revert the users' funds.
  await client.mine({ blocks: DEEPEST });

  async function step(draw: Draw): Promise<Kind> {
    const model = states.now();
    const now = await act.chainTime(protocol);
    const { owner, relayer } = chain;
    const context = { protocol, owner, relayer, model, now, draw, ...(await vaultLimits(protocol)) };
    const choice = choose(context);
    const { block, changed, kind = choice.kind } = await choice.plan();
    const done = { ...model.done, [kind]: (model.done[kind] ?? 0) + 1 };
    states.add(block, { ...model, ...changed, done });
    return kind;
  }

  /** Continues after a reorganisation, which may have reverted the newest prices and left the token at a low one, and the end of an outage. */
  async function continueFrom(block: bigint): Promise<void> {
    states.revertTo(block);
    await endOutage({ protocol, owner: chain.owner });
    await act.refreshFeeds(protocol, chain.owner);
    await act.setTokenPrice(protocol, chain.owner, "0.1");
  }

  return {
    protocol,
    model: states.now,
    step,
    async reorganise(depth, before) {
      await before();
      const fork = (await client.getBlockNumber()) - BigInt(depth);
      await client.request<{ Method: "anvil_reorg"; Parameters: [number, never[]]; ReturnType: null }>({
        method: "anvil_reorg",
        params: [depth, []],
      });
      await continueFrom(fork);
    },
    async rewind(draws, before) {
      const id = await act.snapshot(protocol);
      const fork = await client.getBlockNumber();
      for (const draw of draws) await step(draw);
      await before();
      await act.revertTo(protocol, id);
      await continueFrom(fork);
    },
  };
}

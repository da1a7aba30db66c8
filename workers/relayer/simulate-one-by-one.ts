import { type Address, erc20Abi } from "viem";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { MAX_PERMIT_GAS } from "../../lib/chain/permit.ts";
import { findRevert, isOutOfGas, type Revert } from "../../lib/chain/reverts.ts";
import type { CallRequest, SimulatedCall } from "../../lib/chain/simulate-calls.ts";
import type { PurchaseRequest } from "../../lib/ledger/purchase.ts";
import { dollarsOfUsdc, reservedFor, usdcOfDollars } from "../../lib/vault-units.ts";
import type { Block, Chain } from "./chain.ts";
import {
  permitCall,
  permitGasLimitOf,
  purchaseCall,
  type RoundPurchase,
  type SaleContracts,
} from "./purchase-calls.ts";
import { isAllowanceRevert } from "./purchase-failures.ts";
import { type SimulatedPurchase, type SimulatedRound, withPermitRevert } from "./simulate-round.ts";

/** How long an estimate is used, in ms. Then the next call is estimated again, so that the figure can fall too. */
const ESTIMATE_TTL_MS = 60_000;

/**
 * Simulates calls of one kind, and returns the gas that they need. For an estimate the node runs a call a dozen times,
 * to find the least gas that is enough. A plain call with the highest recent estimate runs it once, and proves the
 * same.
 */
export function createGasEstimator(chain: Pick<Chain, "estimateGas" | "call">) {
  let highest: { gas: bigint; until: number } | undefined;

  /** Gas that is enough for the call in the latest state. Rejects with the contract's revert when it would revert. */
  return async function simulate(call: CallRequest): Promise<bigint> {
    if (highest && performance.now() < highest.until) {
      const { gas } = highest;
      // A call that fails is estimated: it may revert, or need more gas than the others.
      const enough = await chain.call({ ...call, gas }, "latest").then(
        () => true,
        () => false,
      );
      if (enough) return gas;
    }
    const gas = await chain.estimateGas(call);
    if (!highest || performance.now() >= highest.until || gas > highest.gas) {
      highest = { gas, until: performance.now() + ESTIMATE_TTL_MS };
    }
    return gas;
  };
}

export type OneByOneOptions = SaleContracts & {
  chain: Chain;
  /** Gas that is enough for the call in the latest state. Rejects with the contract's revert. */
  estimateGas: (call: CallRequest) => Promise<bigint>;
};

/** The revert of a payout above the vault's capacity; both with 6 decimals, in the revert whole dollars. */
function exceedsCapacity(payout: bigint, left: bigint): Revert {
  const name = "InsufficientCapacity";
  return { name, text: `${name}(${dollarsOfUsdc(payout)}, ${dollarsOfUsdc(left)})`, data: "0x" };
}

/**
 * For a node that cannot simulate a sequence: each purchase alone, and its payout against the capacity after `number` that those
 * before it leave. Rejects when the node does not answer.
 */
export async function simulateOneByOne(
  options: OneByOneOptions,
  { number }: Pick<Block, "number">,
  from: Address,
  round: readonly RoundPurchase[],
): Promise<SimulatedRound> {
  const [capacity, quotes] = await Promise.all([
    readCapacity(options, number),
    Promise.all(round.map((purchase) => simulateOne(options, from, purchase))),
  ]);
  let capacityLeft = capacity;
  const purchases = quotes.map((purchase): SimulatedPurchase => {
    if (purchase.kind !== "buys") return purchase;
    if (purchase.payout > capacityLeft)
      return { kind: "reverts", revert: exceedsCapacity(purchase.payout, capacityLeft) };
    capacityLeft -= purchase.payout;
    return purchase;
  });
  return { block: number, capacityLeft, purchases };
}

async function readCapacity({ chain, bondVault }: OneByOneOptions, blockNumber: bigint): Promise<bigint> {
  const capacity = { address: bondVault, abi: bondVaultAbi, functionName: "availableCapacityUSD" } as const;
  return usdcOfDollars(await chain.client.readContract({ ...capacity, blockNumber }));
}

/** Two purchases of a buyer alone may each find the allowance: the second one then reverts in the block. */
async function simulateOne(
  options: OneByOneOptions,
  from: Address,
  purchase: RoundPurchase,
): Promise<SimulatedPurchase> {
  const { request, permit } = purchase;
  const quoted = await quote(options, request, purchaseCall(options, from, purchase));
  if (!permit || quoted.kind !== "reverts" || !isAllowanceRevert(quoted.revert)) return quoted;
  try {
    // The token looks at the allowance first: a permit for a buyer without the premium would cost gas for nothing.
    const short = await shortBalance(options, request);
    if (short) return { kind: "reverts", revert: short };
    const permitting = await simulatePermit(options, permitCall(options, from, purchase, permit), purchase);
    return permitting.succeeded
      ? { kind: "needs_permit", permitGasLimit: permitGasLimitOf(purchase, permitting.gas) }
      : { kind: "reverts", revert: withPermitRevert(quoted.revert, permitting) };
  } catch (error) {
    return { kind: "unknown", fault: error };
  }
}

/** The revert of a purchase for which the buyer has too little USDC; undefined when it has enough. */
async function shortBalance(
  { chain, usdc, coverRouter }: OneByOneOptions,
  { productId, coverageAmount, buyer }: PurchaseRequest,
): Promise<Revert | undefined> {
  const [balance, [premium]] = await Promise.all([
    chain.client.readContract({ address: usdc, abi: erc20Abi, functionName: "balanceOf", args: [buyer] }),
    chain.client.readContract({
      address: coverRouter,
      abi: coverRouterAbi,
      functionName: "quotePremium",
      args: [productId, coverageAmount],
    }),
  ]);
  if (balance >= premium) return undefined;
  const name = "ERC20InsufficientBalance";
  return { name, text: `${name}(${buyer}, ${balance}, ${premium})`, data: "0x" };
}

/** Runs an owner's code once; for an estimate the node would run it a dozen times. Rejects when the node does not answer. */
async function simulatePermit(
  { chain }: OneByOneOptions,
  call: CallRequest,
  { ownerHasCode }: RoundPurchase,
): Promise<SimulatedCall> {
  try {
    if (ownerHasCode) await chain.call({ ...call, gas: MAX_PERMIT_GAS }, "latest");
    const gas = ownerHasCode ? MAX_PERMIT_GAS : await chain.estimateGas(call, MAX_PERMIT_GAS);
    return { succeeded: true, gas, logs: [], output: "0x" };
  } catch (error) {
    const revert = findRevert(error);
    if (!revert && !isOutOfGas(error)) throw error;
    return { succeeded: false, revert };
  }
}

async function quote(
  { chain, coverRouter, estimateGas }: OneByOneOptions,
  { productId, coverageAmount }: PurchaseRequest,
  call: CallRequest,
): Promise<SimulatedPurchase> {
  try {
    const gas = await estimateGas(call);
    // Read last, so that it is no older than the simulation.
    const [premium, payout] = await chain.client.readContract({
      address: coverRouter,
      abi: coverRouterAbi,
      functionName: "quotePremium",
      args: [productId, coverageAmount],
    });
    return { kind: "buys", gas, permitGasLimit: undefined, premium, payout: reservedFor(payout) };
  } catch (error) {
    const revert = findRevert(error);
    return revert ? { kind: "reverts", revert } : { kind: "unknown", fault: error };
  }
}

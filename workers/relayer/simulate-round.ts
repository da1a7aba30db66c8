import { type Address, decodeFunctionResult, encodeFunctionData, type Hex } from "viem";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { findRevert, type Revert } from "../../lib/chain/reverts.ts";
import type { CallRequest, SimulatedCall } from "../../lib/chain/simulate-calls.ts";
import { errorText, type Logger } from "../../lib/log.ts";
import { reservedFor, usdcOfDollars } from "../../lib/vault-units.ts";
import { greater } from "../common/bigints.ts";
import type { Block, Chain } from "./chain.ts";
import {
  allowanceCall,
  allowanceOf,
  permitCall,
  permitGasLimitOf,
  purchaseCall,
  purchasedPolicy,
  type RoundPurchase,
  type SaleContracts,
} from "./purchase-calls.ts";
import { createGasEstimator, simulateOneByOne } from "./simulate-one-by-one.ts";

const vaultCapacity = { abi: bondVaultAbi, functionName: "availableCapacityUSD" } as const;
const CAPACITY_CALLDATA = encodeFunctionData(vaultCapacity);

/**
 * A purchase in its place: its gas, its premium and what the vault reserves for its payout (6 decimals), or its revert.
 * `permitGasLimit`: of its permit, which has to be sent before it; undefined where the allowance suffices. `needs_permit`: what it does
 * is known once its permit is mined. `unknown`: it is not known whether it would revert.
 */
export type SimulatedPurchase =
  | { kind: "buys"; gas: bigint; permitGasLimit: bigint | undefined; premium: bigint; payout: bigint }
  | { kind: "needs_permit"; permitGasLimit: bigint }
  | { kind: "reverts"; revert: Revert }
  | { kind: "unknown"; fault: unknown };

/** `capacityLeft` is the vault's free capacity (6 decimals) after `block` and all of these purchases. */
export type SimulatedRound = {
  block: bigint;
  capacityLeft: bigint;
  purchases: readonly SimulatedPurchase[];
};

export type RoundSimulatorOptions = SaleContracts & { chain: Chain; log: Logger };

/** After a failed sequence the node is asked for one again when this time has passed, in ms. */
const SEQUENCE_REST_MS = 60_000;

/**
 * Simulates the purchases of a signing round, for a while one by one after the node has failed at a sequence: it may lack the
 * method, or refuse a sequence that is too long for it. Rejects when the node does not answer.
 */
export function createRoundSimulator(options: RoundSimulatorOptions, restMs = SEQUENCE_REST_MS) {
  const { chain, log } = options;
  const estimateGas = createGasEstimator(chain);
  let sequenceFrom = 0;

  return async (from: Address, purchases: readonly RoundPurchase[]): Promise<SimulatedRound> => {
    // Read first: a purchase that is mined meanwhile counts as in flight too, and the round waits for the next block.
    const head = await chain.block("latest");
    if (!head) throw new Error("the node has no latest block");
    if (performance.now() >= sequenceFrom) {
      try {
        return await simulateInSequence(options, head, from, purchases);
      } catch (error) {
        sequenceFrom = performance.now() + restMs;
        log.warn({ err: errorText(error) }, "eth_simulateV1 failed: purchases are simulated one by one");
      }
    }
    return simulateOneByOne({ ...options, estimateGas }, head, from, purchases);
  };
}

/** The calls that run for a purchase, the last of which is its own. */
function callsOf(contracts: SaleContracts, from: Address, one: RoundPurchase): readonly CallRequest[] {
  const purchase = purchaseCall(contracts, from, one);
  if (!one.permit) return [purchase];
  const allowance = allowanceCall(contracts, from, one.request.buyer);
  return [allowance, permitCall(contracts, from, one, one.permit), purchase];
}

/**
 * One request: the purchases in their order, and the vault's capacity before those whose owner's code checks a permit, which are the last
 * ones: that code changes nothing for the others.
 */
async function simulateInSequence(
  options: RoundSimulatorOptions,
  head: Block,
  from: Address,
  purchases: readonly RoundPurchase[],
): Promise<SimulatedRound> {
  const { chain, bondVault } = options;
  const groups = purchases.map((purchase) => callsOf(options, from, purchase));
  const capacityCall = { from, to: bondVault, data: CAPACITY_CALLDATA };
  const plain = purchases.filter(({ ownerHasCode }) => !ownerHasCode).length;
  const before = groups.slice(0, plain).flat();
  const simulated = await chain.simulate([...before, capacityCall, ...groups.slice(plain).flat()], head);
  const [capacity] = simulated.calls.splice(before.length, 1);
  let next = 0;
  const simulatedPurchases = purchases.map((purchase, n) => {
    const calls = groups[n] ?? [];
    const results = simulated.calls.slice(next, next + calls.length);
    next += calls.length;
    return purchaseOf(options, purchase, calls.at(-1), results);
  });
  const found = await Promise.all(simulatedPurchases);
  // Those after it that buy without their permit take of it too.
  const later = found.slice(plain).reduce((sum, one) => (one.kind === "buys" ? sum + one.payout : sum), 0n);
  const capacityLeft = (capacity?.succeeded ? capacityOf(capacity.output) : 0n) - later;
  return { block: simulated.block, capacityLeft, purchases: withGasOfAnyPlace(found) };
}

/** Gives each purchase the gas of the dearest: where those before it revert, it is the one that writes a slot first. */
function withGasOfAnyPlace(purchases: readonly SimulatedPurchase[]): SimulatedPurchase[] {
  const most = purchases.reduce((gas, one) => (one.kind === "buys" ? greater(gas, one.gas) : gas), 0n);
  return purchases.map((one) => (one.kind === "buys" ? { ...one, gas: most } : one));
}

const capacityOf = (output: Hex): bigint =>
  usdcOfDollars(decodeFunctionResult({ ...vaultCapacity, data: output }));

/** Whether a permit is sent: only if it raises the allowance, because a lower one would take what other purchases need. */
const raisesAllowance = ({ permit }: RoundPurchase, before: SimulatedCall | undefined): boolean =>
  permit !== undefined && before?.succeeded === true && allowanceOf(before.output) < permit.value;

async function purchaseOf(
  { chain, coverRouter }: RoundSimulatorOptions,
  purchase: RoundPurchase,
  call: CallRequest | undefined,
  results: readonly SimulatedCall[],
): Promise<SimulatedPurchase> {
  const bought = results.at(-1);
  const [before, permit] = purchase.permit ? results : [];
  if (!call || !bought) return { kind: "unknown", fault: "the node has not simulated the call" };
  if (bought.succeeded) {
    const policy = purchasedPolicy(bought.logs, coverRouter);
    if (!policy) return { kind: "unknown", fault: "the simulated call sells no policy" };
    const isSent = permit?.succeeded === true && raisesAllowance(purchase, before);
    const permitGasLimit = isSent ? permitGasLimitOf(purchase, permit.gas) : undefined;
    if (permitGasLimit !== undefined && purchase.ownerHasCode)
      return { kind: "needs_permit", permitGasLimit };
    return {
      kind: "buys",
      gas: bought.gas,
      permitGasLimit,
      premium: policy.premiumPaid,
      payout: reservedFor(policy.payout),
    };
  }
  if (bought.revert) return { kind: "reverts", revert: withPermitRevert(bought.revert, permit) };
  const fault = "it fails after the purchases before it, without a reason";
  if (purchase.permit) return { kind: "unknown", fault };
  // A contract gave no reason, or the node's limit on gas ended the sequence: the call alone shows which.
  try {
    await chain.estimateGas(call);
    return { kind: "unknown", fault };
  } catch (error) {
    const revert = findRevert(error);
    return revert ? { kind: "reverts", revert } : { kind: "unknown", fault: error };
  }
}

/** A purchase's revert, with that of its permit where the allowance may have failed for it. */
export function withPermitRevert(revert: Revert, permit: SimulatedCall | undefined): Revert {
  if (!permit || permit.succeeded) return revert;
  const reason = permit.revert?.text ?? "it gave no reason";
  return { ...revert, text: `${revert.text}; its permit would revert: ${reason}` };
}

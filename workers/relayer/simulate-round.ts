import { type Address, decodeFunctionResult, encodeFunctionData, type Hex } from "viem";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { findRevert, type Revert } from "../../lib/chain/reverts.ts";
import type { PurchaseRequest } from "../../lib/ledger/purchase.ts";
import type { Logger } from "../../lib/log.ts";
import type { CallRequest, Chain } from "./chain.ts";
import { purchaseCalldata, purchasedPolicy } from "./purchase-call.ts";
import { createSimulator } from "./simulate.ts";
import { simulateOneByOne } from "./simulate-one-by-one.ts";
import type { SimulatedCall } from "./simulated-calls.ts";

const vaultCapacity = { abi: bondVaultAbi, functionName: "availableCapacityUSD" } as const;
const CAPACITY_CALLDATA = encodeFunctionData(vaultCapacity);

/**
 * A purchase in its place: the gas and the premium (6 decimals) that it takes, or its revert. `fault`: it is not known whether
 * it would revert.
 */
export type SimulatedPurchase =
  | { kind: "buys"; gas: bigint; premium: bigint }
  | { kind: "reverts"; revert: Revert }
  | { kind: "unknown"; fault: unknown };

/** `capacityLeft` is the vault's free capacity (6 decimals) after `block` and all of these purchases. */
export type SimulatedRound = {
  block: bigint;
  capacityLeft: bigint;
  purchases: readonly SimulatedPurchase[];
};

export type RoundSimulatorOptions = {
  chain: Chain;
  coverRouter: Address;
  bondVault: Address;
  log: Logger;
};

/** Simulates the purchases of a signing round. Rejects when the node does not answer. */
export function createRoundSimulator(options: RoundSimulatorOptions) {
  const { chain, coverRouter, log } = options;
  const estimateGas = createSimulator(chain);
  // Asked again only after a restart.
  let hasSimulateV1 = true;

  return async (from: Address, requests: readonly PurchaseRequest[]): Promise<SimulatedRound> => {
    const callOf = (request: PurchaseRequest) => ({ from, to: coverRouter, data: purchaseCalldata(request) });
    if (hasSimulateV1) {
      const round = await simulateInSequence(options, from, requests.map(callOf));
      if (round) return round;
      hasSimulateV1 = false;
      log.warn("the node lacks eth_simulateV1: purchases are simulated one by one");
    }
    return simulateOneByOne({ ...options, estimateGas }, requests, callOf);
  };
}

/** One request: the purchases in their order, and the vault's capacity after them. Undefined on a node without the method. */
async function simulateInSequence(
  { chain, coverRouter, bondVault }: RoundSimulatorOptions,
  from: Address,
  calls: readonly CallRequest[],
): Promise<SimulatedRound | undefined> {
  const simulated = await chain.simulate([...calls, { from, to: bondVault, data: CAPACITY_CALLDATA }]);
  if (!simulated) return undefined;
  const capacity = simulated.calls.at(-1);
  const purchases = await Promise.all(
    calls.map((call, n) => purchaseOf(chain, coverRouter, call, simulated.calls[n])),
  );
  const capacityLeft = capacity?.succeeded ? capacityOf(capacity.output) : 0n;
  return { block: simulated.block, capacityLeft, purchases };
}

const capacityOf = (output: Hex): bigint => decodeFunctionResult({ ...vaultCapacity, data: output });

async function purchaseOf(
  chain: Chain,
  coverRouter: Address,
  call: CallRequest,
  simulated: SimulatedCall | undefined,
): Promise<SimulatedPurchase> {
  if (!simulated) return { kind: "unknown", fault: "the node has not simulated the call" };
  if (simulated.succeeded) {
    const policy = purchasedPolicy(simulated.logs, coverRouter);
    if (!policy) return { kind: "unknown", fault: "the simulated call sells no policy" };
    return { kind: "buys", gas: simulated.gas, premium: policy.premiumPaid };
  }
  if (simulated.revert) return { kind: "reverts", revert: simulated.revert };
  // A contract gave no reason, or the node's limit on gas ended the sequence: the call alone shows which.
  try {
    await chain.estimateGas(call);
    return { kind: "unknown", fault: "it fails after the purchases before it, without a reason" };
  } catch (error) {
    const revert = findRevert(error);
    return revert ? { kind: "reverts", revert } : { kind: "unknown", fault: error };
  }
}

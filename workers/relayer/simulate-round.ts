import { type Address, decodeFunctionResult, encodeFunctionData, type Hex } from "viem";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { findRevert, type Revert } from "../../lib/chain/reverts.ts";
import type { CallRequest, SimulatedCall } from "../../lib/chain/simulate-calls.ts";
import type { PurchaseRequest } from "../../lib/ledger/purchase.ts";
import { errorText, type Logger } from "../../lib/log.ts";
import type { Chain } from "./chain.ts";
import { createGasEstimator } from "./estimate-gas.ts";
import { purchaseCalldata, purchasedPolicy } from "./purchase-call.ts";
import { simulateOneByOne } from "./simulate-one-by-one.ts";

const vaultCapacity = { abi: bondVaultAbi, functionName: "availableCapacityUSD" } as const;
const CAPACITY_CALLDATA = encodeFunctionData(vaultCapacity);

/**
 * A purchase in its place: its gas, its premium and the payout that the vault reserves for it (6 decimals), or its revert. `fault`: it is not known whether
 * it would revert.
 */
export type SimulatedPurchase =
  | { kind: "buys"; gas: bigint; premium: bigint; payout: bigint }
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

/** After a failed sequence the node is asked for one again when this time has passed, in ms. */
const SEQUENCE_REST_MS = 60_000;

/**
 * Simulates the purchases of a signing round, for a while one by one after the node has failed at a sequence: it may lack the
 * method, or refuse a sequence that is too long for it. Rejects when the node does not answer.
 */
export function createRoundSimulator(options: RoundSimulatorOptions, restMs = SEQUENCE_REST_MS) {
  const { chain, coverRouter, log } = options;
  const estimateGas = createGasEstimator(chain);
  let sequenceFrom = 0;

  return async (from: Address, requests: readonly PurchaseRequest[]): Promise<SimulatedRound> => {
    const callOf = (request: PurchaseRequest) => ({ from, to: coverRouter, data: purchaseCalldata(request) });
    if (performance.now() >= sequenceFrom) {
      try {
        return await simulateInSequence(options, from, requests.map(callOf));
      } catch (error) {
        sequenceFrom = performance.now() + restMs;
        log.warn({ err: errorText(error) }, "eth_simulateV1 failed: purchases are simulated one by one");
      }
    }
    return simulateOneByOne({ ...options, estimateGas }, requests, callOf);
  };
}

/** One request: the purchases in their order, and the vault's capacity after them. */
async function simulateInSequence(
  { chain, coverRouter, bondVault }: RoundSimulatorOptions,
  from: Address,
  calls: readonly CallRequest[],
): Promise<SimulatedRound> {
  const simulated = await chain.simulate([...calls, { from, to: bondVault, data: CAPACITY_CALLDATA }]);
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
    return { kind: "buys", gas: simulated.gas, premium: policy.premiumPaid, payout: policy.payout };
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

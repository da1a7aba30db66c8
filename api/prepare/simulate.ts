import { type Address, BaseError, MethodNotFoundRpcError } from "viem";
import type { ReadClient } from "../../lib/chain/client.ts";
import { simulateCalls } from "../../lib/chain/simulate-calls.ts";
import type { Contracts } from "../../lib/deployments.ts";
import { ApiError } from "../../lib/errors.ts";
import type { ChainHead } from "../chain/block.ts";
import { type ConcurrencyLimit, createConcurrencyLimit } from "../http/concurrency-limit.ts";
import type { SimulationBody } from "./schemas.ts";
import { addressOf, openSteps, type Step } from "./steps.ts";

/** Simulations that this process runs at the same time: each may run code that a stranger chose, such as a buyer's contract. */
const MAX_SIMULATIONS = 4;
/** Gas of one simulated step: several times what the largest, a trigger, needs. */
const STEP_GAS = 4_000_000n;

/** `client` should be used for simulations only, so that they delay nothing else, and should not retry. */
export type Simulator = { readonly client: ReadClient; readonly limit: ConcurrencyLimit };

export const createSimulator = (client: ReadClient): Simulator => ({
  client,
  limit: createConcurrencyLimit(
    MAX_SIMULATIONS,
    () => new ApiError("chain_not_found", "Too many simulations are running; ask again later."),
  ),
});

/** Why the node has simulated nothing. */
function reasonOf(error: unknown): string {
  if (error instanceof ApiError) return error.message;
  const lacksMethod =
    error instanceof BaseError && error.walk((cause) => cause instanceof MethodNotFoundRpcError) !== null;
  return lacksMethod
    ? "The chain's node does not know eth_simulateV1."
    : "The chain's node has not simulated the calls in time, or at all.";
}

const unknown = (reason: string): SimulationBody => ({ status: "unknown", reason });

/** Runs the open steps in the state after the block. It never rejects: what cannot be simulated is `unknown`. */
export async function simulate(
  { client, limit }: Simulator,
  contracts: Contracts,
  from: Address,
  steps: readonly Step[],
  block: ChainHead,
): Promise<SimulationBody> {
  const open = openSteps(steps);
  if (open.length === 0) return unknown("There is no call to simulate.");
  const calls = open.map(({ contract, data }) => ({
    from,
    to: addressOf(contracts, contract),
    data,
    gas: STEP_GAS,
  }));
  try {
    const simulated = await limit(() => simulateCalls(client, calls, block));
    for (const [index, step] of open.entries()) {
      const call = simulated.calls[index];
      if (!call) return unknown("The node has not simulated all calls.");
      if (call.succeeded) continue;
      return { status: "reverts", step: step.id, reason: call.revert?.text ?? "reverted without a reason" };
    }
    return { status: "ok" };
  } catch (error) {
    return unknown(reasonOf(error));
  }
}

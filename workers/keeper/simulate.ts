import pLimit from "p-limit";
import { type Address, decodeFunctionResult } from "viem";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { findRevert, isOutOfGas, type Revert } from "../../lib/chain/reverts.ts";
import type { CallRequest, SimulatedCall } from "../../lib/chain/simulate-calls.ts";
import { errorText } from "../../lib/log.ts";
import { MAX_CALL_GAS } from "./batches.ts";
import type { KeeperContext } from "./context.ts";
import type { Work } from "./work.ts";

/**
 * What a call would do now. `done`: somebody else has done it. `idle`: it would change nothing yet. `unknown`: the node does not know
 * the block yet in which it is due, or cannot judge the call.
 */
export type Simulated =
  | { readonly kind: "works"; readonly gas: bigint }
  | { readonly kind: "done" }
  | { readonly kind: "idle" }
  | { readonly kind: "unknown" }
  | { readonly kind: "reverts"; readonly reason: string };

/** Calls in one request: a node runs a sequence within the gas of a block. */
const SEQUENCE = 40;
/** After a node has refused a sequence it is asked for one again when this time has passed, in ms. */
const SEQUENCE_REST_MS = 60_000;
/** Estimates at a time, when calls are simulated one by one. */
const ESTIMATES = 8;

const ofRevert = (revert: Revert): Simulated =>
  revert.name === "ALREADY_FINALIZED" ? { kind: "done" } : { kind: "reverts", reason: revert.text };

/**
 * Simulates work in the newest state, each call by itself. Rejects when the node does not answer.
 * @param due the block in which the work was found.
 */
export async function simulateWork(
  context: KeeperContext,
  from: Address,
  work: readonly Work[],
  due: bigint,
): Promise<Simulated[]> {
  const simulated: Simulated[] = [];
  for (let first = 0; first < work.length; first += SEQUENCE) {
    simulated.push(...(await simulateSequence(context, from, work.slice(first, first + SEQUENCE), due)));
  }
  return simulated;
}

async function simulateSequence(
  context: KeeperContext,
  from: Address,
  work: readonly Work[],
  due: bigint,
): Promise<Simulated[]> {
  const { block, calls } = await runSequence(context, from, work);
  if (block < due) return work.map(() => ({ kind: "unknown" }));
  const limited = pLimit(ESTIMATES);
  const results = await Promise.allSettled(
    work.map((one, n) => resultOf(calls[n], one) ?? limited(() => estimate(context, from, one))),
  );
  return judgedResults(results);
}

/**
 * What is known of calls that were simulated one by one: one that the node cannot judge holds up none of the others. Throws when it
 * judges none of them, because then it does not answer.
 */
export function judgedResults(results: readonly PromiseSettledResult<Simulated>[]): Simulated[] {
  const [first] = results;
  if (first?.status === "rejected" && results.every(({ status }) => status === "rejected"))
    throw first.reason;
  return results.map((result) => (result.status === "fulfilled" ? result.value : { kind: "unknown" }));
}

/** Runs the calls in one request, after `block`, the node's newest; empty where the node refuses that, now or lately. */
async function runSequence(
  context: KeeperContext,
  from: Address,
  work: readonly Work[],
): Promise<{ block: bigint; calls: readonly SimulatedCall[] }> {
  const { chain, log } = context;
  const head = await chain.block("latest");
  if (!head) throw new Error("the node has no latest block");
  const oneByOne = { block: head.number, calls: [] };
  if (performance.now() < context.sequenceFrom) return oneByOne;
  try {
    return await chain.simulate(
      work.map((one) => callOf(from, one)),
      head,
    );
  } catch (error) {
    context.sequenceFrom = performance.now() + SEQUENCE_REST_MS;
    log.warn({ err: errorText(error) }, "eth_simulateV1 failed: the keeper's calls are simulated one by one");
    return oneByOne;
  }
}

const callOf = (from: Address, { to, data }: Work): CallRequest => ({ from, to, data, gas: MAX_CALL_GAS });

/** Undefined where the call failed without a reason: the sequence's gas may have ended. */
function resultOf(call: SimulatedCall | undefined, work: Work): Simulated | undefined {
  if (!call) return undefined;
  if (!call.succeeded) return call.revert && ofRevert(call.revert);
  return isIdle(work, call.output) ? { kind: "idle" } : { kind: "works", gas: call.gas };
}

/** `processQueue` succeeds when it pays nothing: the throttle of the week is used up. */
const isIdle = ({ purpose }: Work, output: `0x${string}`): boolean =>
  purpose === "queue" &&
  decodeFunctionResult({ abi: bondVaultAbi, functionName: "processQueue", data: output }) === 0n;

async function estimate({ chain }: KeeperContext, from: Address, work: Work): Promise<Simulated> {
  const call = callOf(from, work);
  try {
    const gas = await chain.estimateGas(call, MAX_CALL_GAS);
    if (work.purpose !== "queue") return { kind: "works", gas };
    const { data = "0x" } = await chain.client.call({ account: from, to: work.to, data: work.data });
    return isIdle(work, data) ? { kind: "idle" } : { kind: "works", gas };
  } catch (error) {
    const revert = findRevert(error);
    if (revert) return ofRevert(revert);
    if (isOutOfGas(error)) return { kind: "reverts", reason: `it needs more than ${MAX_CALL_GAS} gas` };
    throw error;
  }
}

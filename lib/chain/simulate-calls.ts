/** Runs calls one after the other in the state after a block, in one request that sends nothing (`eth_simulateV1`). */
import { type Address, type Hex, hexToBigInt, numberToHex, type PublicRpcSchema } from "viem";
import type { ReadClient } from "./client.ts";
import { decodeRevert, type Revert } from "./reverts.ts";

/** `value` in wei, 0 when left out; `gas` is the most that the call may use, the node's own limit when left out. */
export type CallRequest = { from: Address; to: Address; data: Hex; value?: bigint; gas?: bigint };

/** The call in the form of the JSON-RPC API. */
export const requestOf = ({ from, to, data, value, gas }: CallRequest) => ({
  from,
  to,
  data,
  ...(value === undefined ? {} : { value: numberToHex(value) }),
  ...(gas === undefined ? {} : { gas: numberToHex(gas) }),
});

/** A log of a simulated or mined call. */
export type Log = { address: Address; topics: readonly Hex[]; data: Hex };

/** One call of a sequence. `revert` is undefined when the node does not say why the call failed. */
export type SimulatedCall =
  | { succeeded: true; gas: bigint; logs: readonly Log[]; output: Hex }
  | { succeeded: false; revert: Revert | undefined };

/** Calls that ran one after the other in the state after `block`. */
export type SimulatedCalls = { block: bigint; calls: SimulatedCall[] };

type SimulatedBlock = Extract<PublicRpcSchema[number], { Method: "eth_simulateV1" }>["ReturnType"][number];

/**
 * Runs the calls in the state after a block, each in the state that those before it leave. Rejects when the node does not
 * answer, does not know the method, or simulates nothing.
 */
export async function simulateCalls(
  client: Pick<ReadClient, "request">,
  calls: readonly CallRequest[],
  at: bigint | "latest",
): Promise<SimulatedCalls> {
  const [block] = await client.request({
    method: "eth_simulateV1",
    params: [{ blockStateCalls: [{ calls: calls.map(requestOf) }] }, at === "latest" ? at : numberToHex(at)],
  });
  if (!block) throw new Error("the node simulated no block");
  return simulatedCallsOf(block);
}

/** Reads the only block of an `eth_simulateV1`. */
function simulatedCallsOf({ number, parentHash, calls }: SimulatedBlock): SimulatedCalls {
  if (number === null) throw new Error("the node simulated a block without a number");
  // The simulated block follows the one that it runs on. Anvil 1.7 gives both the same number, and this one no parent.
  const hasParent = hexToBigInt(parentHash) !== 0n;
  return { block: hexToBigInt(number) - (hasParent ? 1n : 0n), calls: calls.map(simulatedCallOf) };
}

function simulatedCallOf({
  status,
  gasUsed,
  logs,
  returnData,
  error,
}: SimulatedBlock["calls"][number]): SimulatedCall {
  if (hexToBigInt(status) === 1n)
    return { succeeded: true, gas: hexToBigInt(gasUsed), logs: logs ?? [], output: returnData };
  // Geth has the revert's bytes in the error, anvil has them where a result would be.
  const data = [error?.data, returnData].find((bytes) => bytes !== undefined && bytes !== "0x");
  return { succeeded: false, revert: data && decodeRevert(data) };
}

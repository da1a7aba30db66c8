import { type Hex, hexToBigInt, type PublicRpcSchema } from "viem";
import { decodeRevert, type Revert } from "../../lib/chain/reverts.ts";
import type { Log } from "./chain.ts";

/** One call of a sequence. `revert` is undefined when the node does not say why the call failed. */
export type SimulatedCall =
  | { succeeded: true; gas: bigint; logs: readonly Log[]; output: Hex }
  | { succeeded: false; revert: Revert | undefined };

/** Calls that ran one after the other in the state after `block`. */
export type SimulatedCalls = { block: bigint; calls: SimulatedCall[] };

type SimulatedBlock = Extract<PublicRpcSchema[number], { Method: "eth_simulateV1" }>["ReturnType"][number];

/** Reads the only block of an `eth_simulateV1`. */
export function simulatedCallsOf({ number, parentHash, calls }: SimulatedBlock): SimulatedCalls {
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

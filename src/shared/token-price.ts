import type { Context } from "ponder:registry";
import { BaseError, ContractFunctionZeroDataError } from "viem";
import { priceOracleAbi } from "../../abis/PriceOracle.ts";
import { indexedSources } from "./sources.ts";

const { priceOracle, statesFrom } = indexedSources(process.env);

/** The code with which a node asks for fewer calls. All others answer: with a revert, or that the state is missing, for which each node has its own. */
const LIMIT_EXCEEDED = -32005;

const isNoPrice = (cause: unknown): boolean =>
  cause instanceof ContractFunctionZeroDataError ||
  (cause instanceof Error &&
    "code" in cause &&
    typeof cause.code === "number" &&
    cause.code !== LIMIT_EXCEEDED);

/** The token's price after an event's block, 18 decimals; 0 where the node lacks the state, or the oracle has no price. */
export async function priceAt(client: Context["client"], blockNumber: bigint): Promise<bigint> {
  if (blockNumber < statesFrom) return 0n;
  try {
    return await client.readContract({
      address: priceOracle,
      abi: priceOracleAbi,
      functionName: "getLuminaPrice",
      retryEmptyResponse: false,
    });
  } catch (error) {
    // Ponder has repeated what may pass.
    if (error instanceof BaseError && error.walk(isNoPrice)) return 0n;
    throw error;
  }
}

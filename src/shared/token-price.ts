import type { Context } from "ponder:registry";
import { BaseError, ContractFunctionZeroDataError, type Hex } from "viem";
import { priceOracleAbi } from "../../abis/PriceOracle.ts";
import { indexedSources } from "./sources.ts";

const { priceOracle, statesFrom } = indexedSources(process.env);

/** Ponder asks a minute long for a state that the node lacks: then those of so many blocks after it are not asked for. */
const LACKED_TOGETHER = 128n;
let askedFrom = BigInt(statesFrom);

type Block = { readonly number: bigint; readonly hash: Hex };

const REVERT = 3;
/** Codes with which nodes say that they lack a state; some have the first for reverts too. */
const LACKING = [-32000, -32001, -32002, -32602];

const hasCode = (cause: unknown, codes: readonly number[]): boolean =>
  cause instanceof Error && "code" in cause && typeof cause.code === "number" && codes.includes(cause.code);

const isRevert = (cause: unknown): boolean =>
  cause instanceof ContractFunctionZeroDataError ||
  hasCode(cause, [REVERT]) ||
  (hasCode(cause, LACKING) && cause instanceof Error && cause.message.includes("revert"));

/** The block of the last purchase, for the others in it. */
let newest: { hash: Hex; price: bigint } | undefined;

/** The token's price after an event's block, 18 decimals; 0 where the node lacks the state, or the oracle has no price. */
export async function priceAt(client: Context["client"], { number, hash }: Block): Promise<bigint> {
  if (newest?.hash !== hash) newest = { hash, price: await readPrice(client, number) };
  return newest.price;
}

async function readPrice(client: Context["client"], blockNumber: bigint): Promise<bigint> {
  if (blockNumber < askedFrom) return 0n;
  try {
    return await client.readContract({
      address: priceOracle,
      abi: priceOracleAbi,
      functionName: "getLuminaPrice",
      retryEmptyResponse: false,
    });
  } catch (error) {
    if (!(error instanceof BaseError)) throw error;
    if (error.walk(isRevert)) return 0n;
    // Ponder has repeated what may pass.
    if (!error.walk((cause) => hasCode(cause, LACKING))) throw error;
    askedFrom = blockNumber + LACKED_TOGETHER;
    return 0n;
  }
}

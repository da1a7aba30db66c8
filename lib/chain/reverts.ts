import {
  type Abi,
  AbiDecodingZeroDataError,
  BaseError,
  CallExecutionError,
  ContractFunctionExecutionError,
  ContractFunctionRevertedError,
  ContractFunctionZeroDataError,
  decodeErrorResult,
  type Hex,
  isHex,
} from "viem";
import { bondMarketplaceAbi } from "../../abis/BondMarketplace.ts";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { buybackEngineAbi } from "../../abis/BuybackEngine.ts";
import { claimBondAbi } from "../../abis/ClaimBond.ts";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { flashShieldAbi } from "../../abis/FlashShield.ts";
import { mockUsdcAbi } from "../../abis/MockUSDC.ts";
import { policyManagerAbi } from "../../abis/PolicyManager.ts";
import { priceOracleAbi } from "../../abis/PriceOracle.ts";
import { shieldAdapterAbi } from "../../abis/ShieldAdapter.ts";
import { shieldKeeperAbi } from "../../abis/ShieldKeeper.ts";

/** The errors that the contracts can raise in a purchase, a trigger, a redemption, a sale or a buyback. */
const knownErrors: Abi = [
  ...coverRouterAbi,
  ...policyManagerAbi,
  ...flashShieldAbi,
  ...shieldAdapterAbi,
  ...shieldKeeperAbi,
  ...bondVaultAbi,
  ...claimBondAbi,
  ...bondMarketplaceAbi,
  ...buybackEngineAbi,
  ...priceOracleAbi,
  ...mockUsdcAbi,
].filter((item) => item.type === "error");

/** Longer than any reason that a contract gives on purpose, in characters; the rest is cut off. */
const MAX_LENGTH = 500;

/**
 * A decoded revert: `name` is the error's name or the revert string; `text` has its arguments too. Both can be shown
 * and stored: they have at most 500 characters and no control characters, such as the NUL that Postgres refuses.
 */
export type Revert = { name: string; text: string; data: Hex };

/** A contract's text without control characters, cut to 500 characters; half of a character at the cut is left out. */
const displayable = (text: string): string =>
  text
    .replace(/\p{Cc}/gu, "")
    .slice(0, MAX_LENGTH)
    .replace(/\p{Cs}/gu, "");

/** Decodes the bytes of a revert: an `Error(string)`, one of the protocol's errors, or bare bytes. */
export function decodeRevert(data: Hex): Revert {
  const { name, text } = descriptionOf(data);
  return { name: displayable(name), text: displayable(text), data };
}

function descriptionOf(data: Hex): Pick<Revert, "name" | "text"> {
  if (data === "0x") return { name: "reverted", text: "reverted without a reason" };
  try {
    const { errorName, args = [] } = decodeErrorResult({ abi: knownErrors, data });
    if (errorName === "Error") return { name: String(args[0]), text: String(args[0]) };
    if (errorName === "Panic") return { name: "Panic", text: `Panic(${args.map(String).join(", ")})` };
    return {
      name: errorName,
      text: args.length > 0 ? `${errorName}(${args.map(String).join(", ")})` : errorName,
    };
  } catch {
    return { name: data.slice(0, 10), text: `unknown error ${data}` };
  }
}

/**
 * The revert inside the error of a call, simulation or gas estimate; undefined when the contract did not revert (the
 * node did not answer, for instance). Nodes put the bytes at different depths of the error.
 */
export function findRevert(error: unknown): Revert | undefined {
  if (!(error instanceof BaseError)) return undefined;
  let found: Hex | undefined;
  error.walk((cause) => {
    if (typeof cause !== "object" || cause === null || !("data" in cause)) return false;
    const inner = cause.data;
    const data = typeof inner === "object" && inner !== null && "data" in inner ? inner.data : inner;
    if (!isHex(data)) return false;
    found = data;
    return true;
  });
  if (found !== undefined) return decodeRevert(found);
  const reverted = error.walk((cause) => cause instanceof Error && /execution reverted/i.test(cause.message));
  return reverted ? { name: "reverted", text: "reverted without a reason", data: "0x" } : undefined;
}

/** Nodes' messages for a call that needs more gas than it was given, or than the node allows. */
const OUT_OF_GAS = /out ?of ?gas|OOG\b|gas required exceeds/i;

/** True when a call or a gas estimate failed because its gas limit was too low. */
export const isOutOfGas = (error: unknown): boolean =>
  error instanceof BaseError &&
  error.walk((cause) => {
    if (!(cause instanceof Error)) return false;
    return OUT_OF_GAS.test(cause instanceof BaseError ? `${cause.message} ${cause.details}` : cause.message);
  }) !== null;

/** The failed read of a view that reverted, or whose answer cannot be decoded; undefined when the node did not answer. */
export function findMismatch(error: unknown): ContractFunctionExecutionError | undefined {
  if (!(error instanceof BaseError)) return undefined;
  const read = error.walk((cause) => cause instanceof ContractFunctionExecutionError);
  if (!(read instanceof ContractFunctionExecutionError)) return undefined;
  const isUnanswered = ({ cause }: ContractFunctionExecutionError) =>
    cause instanceof ContractFunctionRevertedError ||
    // Reads that were made together are answered together, also with nothing.
    (cause instanceof CallExecutionError &&
      cause.walk((inner) => inner instanceof AbiDecodingZeroDataError) === null);
  return findRevert(read) || !isUnanswered(read) ? read : undefined;
}

/** True when a view answered nothing: its address has no code, or a contract that takes every call. */
export const isEmptyAnswer = (error: unknown): boolean =>
  error instanceof BaseError &&
  error.walk((cause) => cause instanceof ContractFunctionZeroDataError) !== null;

/** The answer of a view; undefined where the contract does not have it, or refuses. Rejects when the node does not answer. */
export const ifAnswered = <T>(read: Promise<T>): Promise<T | undefined> =>
  read.catch((error: unknown) => {
    if (findRevert(error) || isEmptyAnswer(error)) return undefined;
    throw error;
  });

import { type Abi, BaseError, decodeErrorResult, type Hex, isHex } from "viem";
import { bondMarketplaceAbi } from "../../abis/BondMarketplace.ts";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { claimBondAbi } from "../../abis/ClaimBond.ts";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { flashShieldAbi } from "../../abis/FlashShield.ts";
import { mockUsdcAbi } from "../../abis/MockUSDC.ts";
import { policyManagerAbi } from "../../abis/PolicyManager.ts";
import { twapBurnerAbi } from "../../abis/TwapBurner.ts";

/** The errors that any contract can raise on the way of a purchase, a trigger, a redemption or a sale. */
const knownErrors: Abi = [
  ...coverRouterAbi,
  ...policyManagerAbi,
  ...flashShieldAbi,
  ...bondVaultAbi,
  ...claimBondAbi,
  ...bondMarketplaceAbi,
  ...twapBurnerAbi,
  ...mockUsdcAbi,
].filter((item) => item.type === "error");

/** No reason that a contract gives on purpose is longer, in characters; the rest says nothing to anybody. */
const MAX_LENGTH = 500;

/**
 * A decoded revert: `name` is the error's name or the revert string; `text` has its arguments too. Both can be shown and
 * stored: they have no control characters, among them the NUL that Postgres refuses, and at most 500 characters.
 */
export type Revert = { name: string; text: string; data: Hex };

/** What a contract has written, made fit to be shown and stored; a character that the end cuts in two is left out. */
const legible = (text: string): string =>
  text
    .replace(/\p{Cc}/gu, "")
    .slice(0, MAX_LENGTH)
    .replace(/\p{Cs}/gu, "");

/** Decodes the bytes of a revert, as `Error(string)`, as one of the protocol's errors, or as bare bytes. */
export function decodeRevert(data: Hex): Revert {
  const { name, text } = wordsOf(data);
  return { name: legible(name), text: legible(text), data };
}

function wordsOf(data: Hex): Pick<Revert, "name" | "text"> {
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
 * The revert inside what a call, simulation or gas estimate threw; undefined when nothing says that the contract
 * reverted (a node that did not answer, for instance). Nodes put the bytes at different depths of the error.
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

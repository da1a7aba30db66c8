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

/** A decoded revert: `name` is the error's name or the revert string; `text` has its arguments too. */
export type Revert = { name: string; text: string; data: Hex };

/** Decodes the bytes of a revert, as `Error(string)`, as one of the protocol's errors, or as bare bytes. */
export function decodeRevert(data: Hex): Revert {
  if (data === "0x") return { name: "reverted", text: "reverted without a reason", data };
  try {
    const { errorName, args = [] } = decodeErrorResult({ abi: knownErrors, data });
    if (errorName === "Error") return { name: String(args[0]), text: String(args[0]), data };
    if (errorName === "Panic") return { name: "Panic", text: `Panic(${args.map(String).join(", ")})`, data };
    return {
      name: errorName,
      text: args.length > 0 ? `${errorName}(${args.map(String).join(", ")})` : errorName,
      data,
    };
  } catch {
    return { name: data.slice(0, 10), text: `unknown error ${data}`, data };
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

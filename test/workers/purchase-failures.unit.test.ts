import { encodeErrorResult, type Hex, numberToHex } from "viem";
import { describe, expect, test } from "vitest";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { policyManagerAbi } from "../../abis/PolicyManager.ts";
import { priceOracleAbi } from "../../abis/PriceOracle.ts";
import { decodeRevert } from "../../lib/chain/reverts.ts";
import {
  lackedFundsInBlock,
  minedFailure,
  simulatedFailure,
} from "../../workers/relayer/purchase-failures.ts";

const productId: Hex = numberToHex(1, { size: 32 });

describe("the error code of a purchase that would revert", () => {
  const reason = (text: string) =>
    encodeErrorResult({
      abi: [{ type: "error", name: "Error", inputs: [{ type: "string", name: "reason" }] }],
      args: [text],
    });
  const routerError = (errorName: "ContractPaused" | "ProductInactive" | "NotAuthorizedRelayer") => {
    if (errorName === "ContractPaused") return encodeErrorResult({ abi: coverRouterAbi, errorName });
    if (errorName === "NotAuthorizedRelayer")
      return encodeErrorResult({
        abi: coverRouterAbi,
        errorName,
        args: ["0x70997970C51812dc3A010C7d01b50e0d17dc79C8"],
      });
    return encodeErrorResult({ abi: coverRouterAbi, errorName, args: [productId] });
  };
  test.each([
    [routerError("ContractPaused"), "contract_paused", "ContractPaused"],
    [reason("SEQUENCER_DOWN"), "sequencer_down", "SEQUENCER_DOWN"],
    [reason("ORACLE_STALE"), "oracle_stale", "ORACLE_STALE"],
    [routerError("ProductInactive"), "product_inactive", `ProductInactive(${productId})`],
    [
      encodeErrorResult({ abi: policyManagerAbi, errorName: "ProductNotActive", args: [productId] }),
      "product_inactive",
      `ProductNotActive(${productId})`,
    ],
    [
      reason("Protocol auto-paused: LUMINA price below safety threshold"),
      "contract_paused",
      "Protocol auto-paused: LUMINA price below safety threshold",
    ],
    [
      encodeErrorResult({ abi: coverRouterAbi, errorName: "InvalidCoverage", args: [10_000_000_001n] }),
      "coverage_above_maximum",
      "InvalidCoverage(10000000001)",
    ],
    [
      encodeErrorResult({ abi: policyManagerAbi, errorName: "InsufficientCapacity", args: [81n, 80n] }),
      "coverage_above_maximum",
      "InsufficientCapacity(81, 80)",
    ],
    [
      encodeErrorResult({ abi: priceOracleAbi, errorName: "OracleStale", args: [1_801n, 1_800n] }),
      "oracle_stale",
      "OracleStale(1801, 1800)",
    ],
    [
      encodeErrorResult({ abi: priceOracleAbi, errorName: "OracleInsufficientCardinality", args: [1n, 2n] }),
      "oracle_stale",
      "OracleInsufficientCardinality(1, 2)",
    ],
    [
      encodeErrorResult({ abi: priceOracleAbi, errorName: "PriceDeviationTooHigh", args: [1n, 2n, 3n] }),
      "oracle_stale",
      "PriceDeviationTooHigh(1, 2, 3)",
    ],
    [
      routerError("NotAuthorizedRelayer"),
      "not_authorized_relayer",
      "NotAuthorizedRelayer(0x70997970C51812dc3A010C7d01b50e0d17dc79C8)",
    ],
    [reason("ORACLE_INVALID"), "onchain_revert", "ORACLE_INVALID"],
    [reason("toString"), "onchain_revert", "toString"],
    ["0x", "onchain_revert", "reverted without a reason"],
    ["0x12345678", "onchain_revert", "unknown error 0x12345678"],
  ] as const)("%s is %s", (data, code, text) => {
    expect(simulatedFailure(decodeRevert(data))).toEqual({
      code,
      message: `The purchase would revert: ${text}`,
    });
  });

  test("a revert in a block is onchain_revert, whatever the reason and whether it is known", () => {
    expect(minedFailure(7n, decodeRevert(routerError("ContractPaused")))).toEqual({
      code: "onchain_revert",
      message: "The transaction reverted in block 7: ContractPaused",
      failedBy: "protocol",
    });
    expect(minedFailure(7n, undefined)).toMatchObject({ code: "onchain_revert", failedBy: "protocol" });
  });

  test.each([
    "ERC20: transfer amount exceeds balance",
    "ERC20: transfer amount exceeds allowance",
    "Blacklistable: account is blacklisted",
  ])("a revert of the live USDC for the buyer is the buyer's own making: %s", (text) => {
    expect(minedFailure(7n, decodeRevert(reason(text)))).toMatchObject({ failedBy: "buyer" });
  });

  test("a revert for funds that the buyer has again at the end of the block is the buyer's own making", () => {
    expect(minedFailure(7n, lackedFundsInBlock)).toEqual({
      code: "onchain_revert",
      message:
        "The transaction reverted in block 7: the buyer's USDC or allowance did not suffice at this place in the block",
      failedBy: "buyer",
    });
  });
});

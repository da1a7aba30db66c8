/** Calls of the mock USDC for the upkeep of the sandbox's wallet. */
import { type Address, encodeFunctionData, type Hex, maxUint256 } from "viem";
import { mockUsdcAbi } from "../../abis/MockUSDC.ts";

/** `amount` has 6 decimals. Anybody may mint. */
export const mintCalldata = (to: Address, amount: bigint): Hex =>
  encodeFunctionData({ abi: mockUsdcAbi, functionName: "mint", args: [to, amount] });

/** Approves the spender without a limit. */
export const approvalCalldata = (spender: Address): Hex =>
  encodeFunctionData({ abi: mockUsdcAbi, functionName: "approve", args: [spender, maxUint256] });

/** Calls of the mock USDC that provide for the sandbox's wallet. */
import { type Address, encodeFunctionData, type Hex, maxUint256 } from "viem";
import { mockUsdcAbi } from "../../abis/MockUSDC.ts";

/** `amount` has 6 decimals. Anybody may mint. */
export const mintCalldata = (to: Address, amount: bigint): Hex =>
  encodeFunctionData({ abi: mockUsdcAbi, functionName: "mint", args: [to, amount] });

/** Lets the spender take whatever the sender has. */
export const approvalCalldata = (spender: Address): Hex =>
  encodeFunctionData({ abi: mockUsdcAbi, functionName: "approve", args: [spender, maxUint256] });

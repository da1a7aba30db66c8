/** Amounts for people, with every digit. */
import { formatUnits } from "viem";

/** USDC, 6 decimals: `913.5 USDC`. */
export const usdcText = (amount: bigint): string => `${formatUnits(amount, 6)} USDC`;
/** Protocol tokens, 18 decimals. */
export const tokensText = (amount: bigint): string => formatUnits(amount, 18);
/** A price in USD, 18 decimals. */
export const priceText = (price: bigint): string => `${formatUnits(price, 18)} USD`;

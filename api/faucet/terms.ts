import { parseEther } from "viem";

/** The faucet's grant and its limits. */
export const faucetTerms = {
  /** Per claim, in wei. */
  wei: parseEther("0.05"),
  /** Mock USDC per claim, 6 decimals. */
  usdc: 10_000_000_000n,
  /** Hours between two claims of a wallet, or of a client address. */
  cooldownHours: 24,
  /** Claims per UTC day in total. */
  dailyCap: 50,
} as const;

/** When a wallet and a client address may claim again after a claim. */
export const nextEligibleAt = (claimedAt: Date): Date =>
  new Date(claimedAt.getTime() + faucetTerms.cooldownHours * 3_600_000);

import { parseEther } from "viem";

/** What the faucet gives, and how often. */
export const faucetTerms = {
  /** Per claim, in wei. */
  wei: parseEther("0.05"),
  /** Mock USDC per claim, 6 decimals. */
  usdc: 10_000_000_000n,
  /** Between two claims of a wallet, and of a client address. */
  cooldownHours: 24,
  /** Claims of a UTC day, by everybody. */
  dailyCap: 50,
} as const;

/** When a wallet and a client address that claimed then may claim again. */
export const nextEligibleAt = (claimedAt: Date): Date =>
  new Date(claimedAt.getTime() + faucetTerms.cooldownHours * 3_600_000);

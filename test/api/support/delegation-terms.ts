/** The terms of a delegation, as a buyer signs and sends them. */
import type { Address, Hex } from "viem";
import { now } from "./onboarding.ts";

export type Terms = {
  buyer: Address;
  agent: Address;
  totalPremiumCap: bigint;
  expiry: bigint;
  nonce: bigint;
};

/** Terms of a delegation: by default 10 USDC for an hour. */
export const terms = (buyer: Address, agent: Address, more: Partial<Terms> = {}): Terms => ({
  ...{ buyer, agent, totalPremiumCap: 10_000_000n, expiry: BigInt(now() + 3600), nonce: 1n },
  ...more,
});

/** The body of the call. */
export const bodyOf = ({ totalPremiumCap, expiry, nonce, ...parties }: Terms, signature: Hex) => ({
  ...parties,
  totalPremiumCap: String(totalPremiumCap),
  expiry: String(expiry),
  nonce: String(nonce),
  signature,
});

/** Logs of policies, bonds and burns on a chain of event emitters. */
import { type Address, type Hex, keccak256, stringToHex, zeroAddress, zeroHash } from "viem";
import { bondVaultAbi } from "../../../abis/BondVault.ts";
import { buybackEngineAbi } from "../../../abis/BuybackEngine.ts";
import { coverRouterAbi } from "../../../abis/CoverRouter.ts";
import { flashShieldAbi } from "../../../abis/FlashShield.ts";
import { policyManagerAbi } from "../../../abis/PolicyManager.ts";
import { protocolTokenAbi } from "../../../abis/ProtocolToken.ts";
import { twapBurnerAbi } from "../../../abis/TwapBurner.ts";
import { type EmitterChain, type Entry, entry } from "./emitter-chain.ts";

export const alice: Address = "0x00000000000000000000000000000000000a11ce";
export const bob: Address = "0x0000000000000000000000000000000000000b0b";
export const carol: Address = "0x00000000000000000000000000000000000ca401";
/** An hour's cover of BTC. */
export const FLASHBTC1H: Hex = keccak256(stringToHex("FLASHBTC1H-001"));

export type EmittedLogs = ReturnType<typeof emittedLogs>;

export function emittedLogs({ contracts, shields }: EmitterChain) {
  const { coverRouter, policyManager, bondVault, protocolToken, twapBurner, buybackEngine } = contracts;
  const amounts = { coverage: 500n, premium: 7n, payout: 400n };
  return {
    /** The shield's log of a policy; the strike has 8 decimals. */
    covered: (policyId: bigint, strikePrice: bigint, expiresAt: bigint, productId = FLASHBTC1H): Entry =>
      entry(shields.get(productId)?.shield ?? zeroAddress, flashShieldAbi, "PolicyCreated", {
        ...{
          policyId,
          holder: alice,
          coverage: amounts.coverage,
          strikePrice,
          startTimestamp: 0n,
          expiresAt,
        },
      }),
    created: (productId: Hex, policyId: bigint, buyer = alice): Entry =>
      entry(policyManager, policyManagerAbi, "PolicyCreated", { productId, policyId, buyer, ...amounts }),
    purchased: (productId: Hex, policyId: bigint, buyer = alice): Entry =>
      entry(coverRouter, coverRouterAbi, "PolicyPurchased", {
        ...{ productId, policyId, buyer, ...amounts, paidBy: bob },
      }),
    triggered: (policyId: bigint, buyer = alice): Entry =>
      entry(policyManager, policyManagerAbi, "PolicyTriggered", {
        ...{ productId: FLASHBTC1H, policyId, buyer, bondAmount: 400n, reason: zeroHash },
      }),
    issued: (epochId: bigint, usdAmount: bigint, to = alice): Entry =>
      entry(bondVault, bondVaultAbi, "BondIssued", { to, epochId, usdAmount }),
    burned: (from: string, value: bigint): Entry =>
      entry(protocolToken, protocolTokenAbi, "Transfer", { from, to: zeroAddress, value }),
    doubleBurned: (tokenBurned: bigint): Entry =>
      entry(buybackEngine, buybackEngineAbi, "DoubleBurnExecuted", {
        ...{ epochId: 203_001n, obligationsReduced: 1n, tokenBurned },
      }),
    burnExecuted: (tokenBurned: bigint, effectivePrice = 3n): Entry =>
      entry(twapBurner, twapBurnerAbi, "BurnExecuted", {
        ...{ usdcSpent: 5n, tokenBurned, effectivePrice, timestamp: 1n },
      }),
  };
}

import { encodeFunctionData } from "viem";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { MAX_PRICE_AGE } from "../../lib/price-rules.ts";
import { readWalletBonds } from "../chain/contracts/market.ts";
import { readProtocolState } from "../chain/contracts/protocol-state.ts";
import { readThrottle } from "../chain/contracts/redemption.ts";
import { readPauses } from "../chain/contracts/selling.ts";
import {
  bondBalanceIssue,
  freshPriceIssue,
  minimumIssue,
  notMatureIssue,
  pausedIssue,
  throttledIssue,
  unknownBondIssue,
} from "./issues.ts";
import { issuesOf, type Plan, type PlanContext } from "./plan.ts";
import { reserveIssue, tokenPriceIssue } from "./shortage-issues.ts";
import { actionStep } from "./steps.ts";

/** `MINIMUM_PRICE` of the vault: 0.001 USD, 18 decimals. */
const MINIMUM_PRICE = 10n ** 15n;

/** Protocol tokens (18 decimals) for whole dollars at a price in USD (18 decimals), rounded down as the vault does. */
const tokensFor = (usd: bigint, price: bigint): bigint => (price === 0n ? 0n : (usd * 10n ** 36n) / price);

/** Plans a redemption of bonds for the protocol token; `usdAmount` in whole dollars. */
export async function planRedemption(
  { reads, contracts, block, from }: PlanContext,
  { epochId, usdAmount }: { readonly epochId: bigint; readonly usdAmount: bigint },
): Promise<Plan> {
  const [{ globallyPaused }, bonds, protocol, throttle] = await Promise.all([
    readPauses(reads, contracts, block.number),
    readWalletBonds(reads, contracts, from, epochId, block.number),
    readProtocolState(reads, contracts, block.number),
    readThrottle(reads, contracts, block),
  ]);
  const { tokenPrice: price, priceUpdatedAt: updatedAt, reserve } = protocol;
  const { maturityDate } = bonds;
  const stale = freshPriceIssue(contracts.tokenUsdFeed, { price, updatedAt }, block);
  const tokens = tokensFor(usdAmount, price);
  const beforeIt = tokensFor(throttle.dueUsd, price);
  const isQueued = tokens + beforeIt > throttle.left;
  const immature = maturityDate !== null && block.timestamp < maturityDate;
  return {
    summary: `Redeems ${usdAmount} bonds of ${epochId} for ${usdAmount} USD in protocol tokens${isQueued ? ", paid later from the queue" : ""}.`,
    issues: issuesOf(
      globallyPaused ? pausedIssue("protocol") : undefined,
      minimumIssue("usdAmount", usdAmount, 1n),
      maturityDate === null ? unknownBondIssue(epochId) : undefined,
      immature ? notMatureIssue(maturityDate) : undefined,
      bondBalanceIssue(epochId, bonds.balance, usdAmount),
      // Without a price the number of tokens is unknown.
      ...(stale
        ? [stale]
        : [
            tokenPriceIssue(price, MINIMUM_PRICE),
            reserveIssue(reserve, tokens),
            isQueued ? throttledIssue(throttle.week, throttle.left, tokens + beforeIt) : undefined,
          ]),
    ),
    steps: [
      actionStep({
        id: "redeem",
        description: `Redeems ${usdAmount} bonds of ${epochId}: the vault burns them, and pays at the token's price in that block, or queues the redemption if it is above the week's throttle.`,
        contract: "bondVault",
        abi: bondVaultAbi,
        data: encodeFunctionData({
          abi: bondVaultAbi,
          functionName: "redeemBond",
          args: [epochId, usdAmount],
        }),
        report: {
          method: "POST",
          path: "/api/v1/redeem",
          body: { epochId: String(epochId), usdAmount: String(usdAmount), ownerAddress: from },
        },
      }),
    ],
    endsAt: stale ? [] : [updatedAt + BigInt(MAX_PRICE_AGE)],
  };
}

import { encodeFunctionData } from "viem";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { tokensFor, UNIT, WEEK_SECONDS } from "../../lib/vault-units.ts";
import { readWalletBonds } from "../chain/contracts/market.ts";
import { type RedemptionTerms, readRedemptionTerms, refusesPrice } from "../chain/contracts/redemption.ts";
import type { Issue } from "./issue-schemas.ts";
import {
  bondBalanceIssue,
  minimumIssue,
  noTokenPriceIssue,
  notMatureIssue,
  shareUsedIssue,
  throttledIssue,
  unknownBondIssue,
} from "./issues.ts";
import { issuesOf, type Plan, type PlanContext } from "./plan.ts";
import { reserveIssue, tokenPriceIssue } from "./shortage-issues.ts";
import { actionStep } from "./steps.ts";

/** The issues that price and throttle raise for a redemption of these dollars (18 decimals), in the vault's order. */
function paymentIssues(terms: RedemptionTerms, dollars: bigint): { issues: Issue[]; isQueued: boolean } {
  const { tokenPrice, minimumPrice, reserve, week, left, leftForWallet, isQueueFull } = terms;
  const { oracle, price } = tokenPrice;
  // Without a price the number of tokens is unknown.
  if (price === null) return { issues: [noTokenPriceIssue(oracle)], isQueued: false };
  const tooLow = tokenPriceIssue(price, minimumPrice);
  const inTokens = (amount: bigint) => tokensFor(amount, price);
  const isQueued = dollars > left;
  if (dollars > leftForWallet) {
    const used = shareUsedIssue(week, inTokens(leftForWallet), inTokens(dollars));
    return { issues: tooLow ? [tooLow] : [used], isQueued: false };
  }
  const issues = issuesOf(
    tooLow,
    isQueued
      ? throttledIssue(week, inTokens(left), inTokens(dollars), isQueueFull)
      : reserveIssue(reserve, inTokens(dollars)),
  );
  return { issues, isQueued };
}

/** Plans a redemption of bonds for the protocol token; `usdAmount` in whole dollars. */
export async function planRedemption(
  { reads, contracts, block, from }: PlanContext,
  { epochId, usdAmount }: { readonly epochId: bigint; readonly usdAmount: bigint },
): Promise<Plan> {
  const [bonds, terms] = await Promise.all([
    readWalletBonds(reads, contracts, from, epochId, block.number),
    readRedemptionTerms(reads, contracts, from, block),
  ]);
  const { maturityDate } = bonds;
  const data = encodeFunctionData({
    abi: bondVaultAbi,
    functionName: "redeemBond",
    args: [epochId, usdAmount],
  });
  const { minimumPrice, tokenPrice, week } = terms;
  const isMinimumRefused =
    tokenPrice.price === minimumPrice && (await refusesPrice(reads, contracts, from, data, block.number));
  const lowestPrice = isMinimumRefused ? minimumPrice + 1n : minimumPrice;
  const { issues, isQueued } = paymentIssues({ ...terms, minimumPrice: lowestPrice }, usdAmount * UNIT);
  const immature = maturityDate !== null && block.timestamp < maturityDate;
  return {
    summary: `Redeems ${usdAmount} bonds of ${epochId} for ${usdAmount} USD in protocol tokens${isQueued ? ", from the queue: the bonds are burned now, and the next week pays only if this fits into its cap" : ""}.`,
    issues: issuesOf(
      minimumIssue("usdAmount", usdAmount, 1n),
      maturityDate === null ? unknownBondIssue(epochId) : undefined,
      immature ? notMatureIssue(maturityDate) : undefined,
      bondBalanceIssue(epochId, bonds.balance, usdAmount),
      ...issues,
    ),
    steps: [
      actionStep({
        id: "redeem",
        description: `Redeems ${usdAmount} bonds of ${epochId}: the vault burns them, and pays at the token's price in that block, or queues the redemption if it is above the week's throttle.`,
        contract: "bondVault",
        abi: bondVaultAbi,
        data,
        report: {
          method: "POST",
          path: "/api/v1/redeem",
          body: { epochId: String(epochId), usdAmount: String(usdAmount), ownerAddress: from },
        },
      }),
    ],
    // Throttle and the wallet's share are the week's.
    endsAt: [(week + 1n) * WEEK_SECONDS - 1n],
  };
}

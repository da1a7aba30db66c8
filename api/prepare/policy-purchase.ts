import { encodeFunctionData, type Hex } from "viem";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { ApiError } from "../../lib/errors.ts";
import { MAX_PRICE_AGE } from "../../lib/price-rules.ts";
import { assetBytes32, MINIMUM_COVERAGE } from "../../lib/products.ts";
import { reservedFor } from "../../lib/vault-units.ts";
import { resolveProduct } from "../buying/purchase-rules.ts";
import { readFunds } from "../chain/contracts/funds.ts";
import { readAssetPrices } from "../chain/contracts/prices.ts";
import { readProduct } from "../chain/contracts/products.ts";
import { readProtocolState } from "../chain/contracts/protocol-state.ts";
import {
  readMaximumCoverage,
  readPauses,
  readQuote,
  readSequencerActive,
} from "../chain/contracts/selling.ts";
import { usdcText } from "./amount-text.ts";
import {
  allowanceIssue,
  balanceIssue,
  freshPriceIssue,
  maximumIssue,
  minimumIssue,
  noTokenPriceIssue,
  pausedIssue,
  permitUnsupportedIssue,
  productInactiveIssue,
  sequencerIssue,
  walletCodeIssue,
} from "./issues.ts";
import { approvalInPlaceOfPermit, permitSteps, readPermits } from "./permit.ts";
import { issuesOf, type Plan, type PlanContext } from "./plan.ts";
import { capacityIssue } from "./shortage-issues.ts";
import { actionStep, usdcApproval } from "./steps.ts";

/** Far above every capacity; beyond it the router's arithmetic overflows. */
const QUOTABLE = 2n ** 128n;

type PolicyRequest = {
  readonly productId?: Hex | undefined;
  readonly productName?: string | undefined;
  /** USDC, 6 decimals. */
  readonly coverageAmount: bigint;
  /** The service sends the purchase, and the buyer signs a permit at most. */
  readonly relayed: boolean;
};

/**
 * Plans a purchase that the buyer sends itself, or signs a permit for.
 * @throws ApiError `unknown_product`, `invalid_product`, or `validation_error` when name and id disagree
 */
export async function planPolicyPurchase(context: PlanContext, request: PolicyRequest): Promise<Plan> {
  const { reads, contracts, block, from } = context;
  const { coverageAmount: coverage } = request;
  const { productId } = resolveProduct(request);
  const at = block.number;
  const [terms, pauses, maximum, sequencerActive, protocol, prices, funds, permits, code] = await Promise.all(
    [
      readProduct(reads, context, productId, at),
      readPauses(reads, contracts, at),
      readMaximumCoverage(reads, contracts, at),
      readSequencerActive(reads, contracts, at),
      readProtocolState(reads, contracts, at),
      readAssetPrices(reads, contracts, at),
      readFunds(reads, contracts, from, at),
      request.relayed ? readPermits(reads, contracts, from, at) : undefined,
      request.relayed ? reads.getCode({ address: from, blockNumber: at }) : undefined,
    ],
  );
  if (!terms) throw new ApiError("invalid_product", `There is no product ${productId}.`);
  // Without a price the issue below says so.
  const isPriceLow = pauses.autoPaused && protocol.tokenPrice.price !== null;
  const quotable = coverage < QUOTABLE ? coverage : QUOTABLE;
  const { premium, payout } = await readQuote(reads, contracts, { productId, coverage: quotable }, at);
  const asset = prices.get(terms.asset);
  const assetFeed = terms.asset === assetBytes32("ETH") ? contracts.ethUsdFeed : contracts.btcUsdFeed;
  // Whether its code takes the signature of its key is only known once it has signed.
  const mayRefuse = code !== undefined && permits !== undefined && funds.allowance < premium;
  const what = `${usdcText(coverage)} of cover by ${terms.name ?? productId} for a premium of ${usdcText(premium)}`;
  return {
    summary: `Buys ${what}. If it triggers, the wallet receives bonds of ${usdcText(payout)}.`,
    issues: issuesOf(
      pauses.globallyPaused ? pausedIssue("protocol") : undefined,
      pauses.routerPaused || isPriceLow ? pausedIssue("router") : undefined,
      sequencerActive ? undefined : sequencerIssue,
      terms.active ? undefined : productInactiveIssue,
      minimumIssue("coverageAmount", coverage, MINIMUM_COVERAGE),
      maximum === undefined ? undefined : maximumIssue(coverage, maximum),
      asset === undefined ? undefined : freshPriceIssue(assetFeed, asset, block),
      protocol.tokenPrice.price === null ? noTokenPriceIssue(protocol.tokenPrice.oracle) : undefined,
      capacityIssue(protocol.capacity, reservedFor(payout)),
      balanceIssue(contracts.usdc, funds.balance, premium),
      request.relayed ? undefined : allowanceIssue(contracts.coverRouter, funds.allowance, premium),
      request.relayed && !permits && funds.allowance < premium
        ? permitUnsupportedIssue(contracts.usdc)
        : undefined,
      mayRefuse ? walletCodeIssue : undefined,
    ),
    steps: request.relayed
      ? [
          ...(mayRefuse ? [approvalInPlaceOfPermit(context, premium, funds.allowance)] : []),
          ...permitSteps(context, { permits, allowance: funds.allowance, premium, productId, coverage }),
        ]
      : [
          usdcApproval("cover router", contracts.coverRouter, premium, funds.allowance),
          actionStep({
            id: "purchase",
            description: `Buys ${what}.`,
            contract: "coverRouter",
            abi: coverRouterAbi,
            data: encodeFunctionData({
              abi: coverRouterAbi,
              functionName: "purchasePolicy",
              args: [productId, coverage, terms.asset],
            }),
          }),
        ],
    endsAt: asset ? [asset.updatedAt + BigInt(MAX_PRICE_AGE)] : [],
  };
}

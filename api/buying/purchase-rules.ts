/** The rules of a purchase as pure checks; each throws the documented error. */

import type { Hex } from "viem";
import { ApiError } from "../../lib/errors.ts";
import { entryById, entryByName, MINIMUM_COVERAGE, productNames } from "../../lib/products.ts";
import { reservedFor } from "../../lib/vault-units.ts";
import type { ProductTerms } from "../chain/contracts/products.ts";
import type { SaleLimits, SellingState } from "../chain/contracts/selling.ts";
import type { PurchaseTerms } from "./buy.ts";

const BPS = 10_000n;

/**
 * The product of a request, and its asset if the catalogue has it.
 * @throws ApiError `unknown_product`, or `validation_error` when name and id disagree
 */
export function resolveProduct({
  productId,
  productName,
}: Pick<PurchaseTerms, "productId" | "productName">): {
  productId: Hex;
  asset: Hex | undefined;
} {
  if (productName === undefined) {
    if (productId === undefined) throw new Error("the schema requires a product");
    return { productId, asset: entryById(productId)?.asset };
  }
  const entry = entryByName(productName);
  if (!entry) {
    const message = `There is no product "${productName.slice(0, 64)}"; the names are ${productNames.join(", ")}.`;
    throw new ApiError("unknown_product", message);
  }
  if (productId !== undefined && productId !== entry.productId) {
    throw new ApiError("validation_error", "productId and productName name different products", {
      details: [{ path: "productId", message: `must be ${entry.productId}, the id of ${productName}` }],
    });
  }
  return entry;
}

/** @throws ApiError `coverage_below_minimum`. `coverage` has 6 decimals. */
export function checkMinimum(coverage: bigint): void {
  if (coverage < MINIMUM_COVERAGE) {
    throw new ApiError(
      "coverage_below_minimum",
      `InvalidCoverage(${coverage}): the coverage is below the minimum of ${MINIMUM_COVERAGE}.`,
    );
  }
}

/** @throws ApiError `invalid_product`, `product_inactive`, or `shield_paused` for a retired product: outside the catalogue */
export function checkProduct(productId: string, terms: ProductTerms | undefined): ProductTerms {
  if (!terms)
    throw new ApiError("invalid_product", `ProductNotConfigured(${productId}): there is no such product.`);
  if (!terms.active && terms.name === null)
    throw new ApiError("shield_paused", `ProductInactive(${productId}): the product is retired.`);
  if (!terms.active)
    throw new ApiError("product_inactive", `ProductInactive(${productId}): the product is not sold.`);
  return terms;
}

/**
 * The deployed contracts sell a product's cover under any asset; the code is that of the local contracts' revert.
 * @throws ApiError `onchain_revert` for another asset than the product's
 */
export function checkAsset(asset: Hex, terms: Pick<ProductTerms, "productId" | "asset">): void {
  if (asset === terms.asset) return;
  throw new ApiError(
    "onchain_revert",
    `InvalidAsset(${asset}): the product ${terms.productId} covers ${terms.asset}. Nothing was spent.`,
  );
}

/** @throws ApiError `premium_above_maximum`. Both have 6 decimals. */
export function checkPremium(premium: bigint, maxPremium: bigint | undefined): void {
  if (maxPremium === undefined || premium <= maxPremium) return;
  throw new ApiError(
    "premium_above_maximum",
    `The premium is ${premium}, and the request allows ${maxPremium} (USDC, 6 decimals).`,
  );
}

/** The payout, which the vault reserves from its free capacity. Both have 6 decimals. */
export const payoutOf = (coverage: bigint, terms: Pick<ProductTerms, "payoutRatioBps">): bigint =>
  (coverage * BigInt(terms.payoutRatioBps)) / BPS;

/** The vault reserves the payout's whole dollars. All have 6 decimals. @throws ApiError `coverage_above_maximum` */
export function checkLimits(
  coverage: bigint,
  terms: ProductTerms,
  { capacity, maximumCoverage }: SaleLimits,
): void {
  const payout = payoutOf(coverage, terms);
  if (reservedFor(payout) > capacity) {
    throw new ApiError(
      "coverage_above_maximum",
      `Exceeds capacity: the payout of ${payout} exceeds the vault's free capacity of ${capacity} (USDC, 6 decimals).`,
    );
  }
  if (maximumCoverage !== undefined && coverage > maximumCoverage) {
    throw new ApiError(
      "coverage_above_maximum",
      `InvalidCoverage(${coverage}): the coverage exceeds the router's maximum of ${maximumCoverage} (USDC, 6 decimals).`,
    );
  }
}

/**
 * Checks relayers and pauses ahead of the writer's simulation.
 * @throws ApiError `relayer_unavailable`, `relayer_unauthorized`, `contract_paused`, `oracle_stale`
 */
export function checkSelling(state: SellingState): void {
  const { relayers, routerPaused, globallyPaused, autoPaused, priceFault } = state;
  if (relayers.length === 0) {
    throw new ApiError("relayer_unavailable", "No relayer is running; try again later.");
  }
  if (!relayers.some(({ authorized }) => authorized)) {
    const addresses = relayers.map(({ address }) => address).join(", ");
    throw new ApiError(
      "relayer_unauthorized",
      `The relayer ${addresses} is not on the cover router's allowlist.`,
    );
  }
  if (routerPaused) throw new ApiError("contract_paused", "ContractPaused: the cover router is paused.");
  if (globallyPaused) throw new ApiError("contract_paused", "ContractPaused: the whole protocol is paused.");
  if (priceFault !== null)
    throw new ApiError("oracle_stale", `The token's price oracle has no price: ${priceFault}`);
  if (autoPaused)
    throw new ApiError("contract_paused", "Protocol auto-paused: LUMINA price below safety threshold.");
}

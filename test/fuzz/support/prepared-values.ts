/** What requests for prepared transactions name. */
import { MAX_UINT256 } from "../../../api/http/field-types.ts";
import type { KnownValues } from "./generate.ts";

const HIGHEST = String(MAX_UINT256);

/** By operation. */
export function preparedValues({
  wallets,
  productName,
  coverageAmount,
}: Readonly<Record<"wallets" | "productName" | "coverageAmount", readonly string[]>>): Record<
  string,
  KnownValues
> {
  // One of the bond's, and of the product's, two names.
  const ofBond: KnownValues = {
    often: { from: wallets, amount: ["0", "10"], usdAmount: ["0", "10"], totalPriceUsdc: ["1000000"] },
    always: { epochId: ["202611", "202612", "0", HIGHEST], bondId: [undefined] },
  };
  const ofListing: KnownValues = { often: { from: wallets, listingId: ["0", "1", "2", "3", HIGHEST] } };
  return {
    prepareRedemption: ofBond,
    prepareListing: ofBond,
    prepareListingPurchase: ofListing,
    prepareListingCancellation: ofListing,
    prepareWithdrawal: { often: { from: wallets } },
    preparePolicy: {
      often: { from: wallets, coverageAmount: [...coverageAmount, HIGHEST] },
      always: { productName, productId: [undefined] },
    },
  };
}

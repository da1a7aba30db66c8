import { z } from "@hono/zod-openapi";
import { coverageInput, eitherProductName, namesProduct, productInputs } from "../buying/product-inputs.ts";
import {
  bondAmountInput,
  bondInputs,
  eitherBondName,
  namesBond,
  namesOneBond,
  usdcInput,
} from "../http/bond-inputs.ts";
import { addressInput, uint256Input } from "../http/field-types.ts";
import { productInput } from "../http/product-input.ts";
import { requestObject } from "../http/request-object.ts";

const from = addressInput.openapi({ description: "The wallet that will send the transactions." });
const listingId = uint256Input.openapi({ description: "Id of the listing.", example: "17" });
const wallet = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";

export const PrepareRedemptionRequest = requestObject({
  from,
  ...bondInputs,
  usdAmount: bondAmountInput.openapi({ description: "Bonds to redeem, whole dollars." }),
})
  .refine(...namesBond)
  .refine(...namesOneBond)
  .openapi("PrepareRedemptionRequest", {
    anyOf: eitherBondName,
    example: { from: wallet, epochId: "202812", usdAmount: "800" },
  });

export const PrepareListingRequest = requestObject({
  from,
  ...bondInputs,
  amount: bondAmountInput,
  totalPriceUsdc: usdcInput("Price of the whole listing."),
})
  .refine(...namesBond)
  .refine(...namesOneBond)
  .openapi("PrepareListingRequest", {
    anyOf: eitherBondName,
    example: { from: wallet, epochId: "202812", amount: "800", totalPriceUsdc: "900000000" },
  });

export const PrepareListingActionRequest = requestObject({ from, listingId }).openapi(
  "PrepareListingActionRequest",
  { example: { from: wallet, listingId: "17" } },
);

export const PrepareWithdrawalRequest = requestObject({ from }).openapi("PrepareWithdrawalRequest", {
  example: { from: wallet },
});

export const PrepareTriggerRequest = requestObject({
  from: from.openapi({ description: "The wallet that will send the transaction: any may." }),
  productId: productInput,
  policyId: uint256Input.openapi({ description: "Numbered per product.", example: "1" }),
}).openapi("PrepareTriggerRequest", {
  example: {
    from: wallet,
    productId: "0xe87625ef7415a58c92f2639b16d176521429aac002386dddf1e47e419dfeaddd",
    policyId: "1",
  },
});

export const PreparePolicyRequest = requestObject({
  from: from.openapi({ description: "The buyer: pays the premium and owns the policy." }),
  ...productInputs,
  coverageAmount: coverageInput,
  relayed: z.boolean().default(false).openapi({
    description:
      "True: for `POST /api/v1/policies`, which pays the gas: the wallet only signs a permit of USDC, where its allowance is too low.",
  }),
})
  .refine(...namesProduct)
  .openapi("PreparePolicyRequest", {
    anyOf: eitherProductName,
    example: { from: wallet, productName: "FLASHBTC1H-001", coverageAmount: "1000000000" },
  });

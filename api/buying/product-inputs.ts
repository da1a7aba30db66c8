/** The fields by which requests name a product and a coverage. */

import { z } from "@hono/zod-openapi";
import { uint256Input } from "../http/field-types.ts";
import { productInput } from "../http/product-input.ts";

/** A product by its id or its name; `resolveProduct` requires that both, if given, agree. */
export const productInputs = {
  productId: productInput.optional().openapi({
    description: "Id of the product. Give this or `productName`; if both, they must agree.",
  }),
  productName: z
    .string()
    .optional()
    .openapi({ description: "One of the six names.", example: "FLASHBTC1H-001" }),
};

export const coverageInput = uint256Input.openapi({
  description: "Coverage, USDC base units (6 decimals); at least 100000000.",
  example: "1000000000",
});

type ProductNames = { readonly productId?: unknown; readonly productName?: unknown };

/** Requires a product by id or name. It is reported together with the faults of other fields. */
export const namesProduct = [
  ({ productId, productName }: ProductNames) => productId !== undefined || productName !== undefined,
  {
    path: ["productId"],
    message: "productId or productName is required",
    when: ({ value }: { value: unknown }) =>
      typeof value === "object" && value !== null && !Array.isArray(value),
  },
] satisfies [unknown, unknown];
/** The rule of `namesProduct` in the OpenAPI document. */
export const eitherProductName = [{ required: ["productId"] }, { required: ["productName"] }];

import { z } from "@hono/zod-openapi";
import { entryByName, productNames } from "../../lib/products.ts";
import { bytes32Input } from "./field-types.ts";

/** In requests: a product by its name in the catalogue or its id; parsed to the id. */
export const productInput = z
  .string()
  .transform((text, context) => {
    const entry = entryByName(text);
    if (entry) return entry.productId;
    const id = bytes32Input.safeParse(text);
    if (id.success) return id.data;
    context.addIssue({
      code: "custom",
      message: `must be the id of a product, or a name: ${productNames.join(", ")}`,
    });
    return z.NEVER;
  })
  .openapi({
    description: "A product: its id, or its name.",
    pattern: `^(${productNames.join("|")}|0x[0-9a-fA-F]{64})$`,
    example: "FLASHBTC1H-001",
  });

/** Inputs that several tools have. Their rules are the API's: what it refuses is told with its own words. */
import { z } from "zod";
import { productNames } from "../../lib/products.ts";
import { productInput } from "../http/product-input.ts";

export const product = productInput.describe(`A product: its name (${productNames.join(", ")}) or its id.`);

export const usdc = (what: string) =>
  z.string().describe(`${what}, in USDC base units as a decimal string: "1000000" is 1 USDC.`);

export const coverageAmount = usdc("The coverage, at least 100000000 (100 USDC)");

export const wallet = (what: string) =>
  z
    .string()
    .regex(/^0x[0-9a-fA-F]{40}$/, "must be 0x and 40 hex digits")
    .describe(what);

export const policyId = z
  .string()
  .regex(/^\d{1,78}$/, "must be a whole number in decimal digits")
  .describe("The policy's id, which counts per product.");

export const epochId = z.string().describe('The bond: the month of its maturity, YYYYMM, such as "202812".');

export const bonds = (what: string) => z.string().describe(`${what}, in whole dollars of face value.`);

/** The page of a list. */
export const page = {
  limit: z.int().min(1).max(100).optional().describe("Most entries, 1 to 100; 20 if left out."),
  cursor: z.string().optional().describe("`nextCursor` (or `next_cursor`) of the page before."),
};

/** Entries of a page unless the call says otherwise: a model reads every one. */
export const DEFAULT_PAGE = 20;

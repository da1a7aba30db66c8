/**
 * Inputs that several tools have. The API checks the values, and its refusals reach the model unchanged. Each input accepts every
 * form that has one meaning only: whole numbers as numbers or text, objects as JSON text, null for absent.
 */
import { z } from "zod";
import { productNames } from "../../lib/products.ts";
import { productInput } from "../http/product-input.ts";
import { bodyOf, withoutNulls } from "../http/request-members.ts";
import { requestObject } from "../http/request-object.ts";

/** The arguments of a tool: it takes no others. */
export const toolInput = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.preprocess(withoutNulls, requestObject(shape));

/** A whole number as text; a number that is one counts as its digits. */
export const digits = (text: z.ZodString = z.string()) =>
  z.preprocess((sent, context) => {
    if (typeof sent !== "number") return sent;
    if (Number.isSafeInteger(sent)) return String(sent);
    context.addIssue({ code: "custom", message: "must be a whole number; from 2^53 on as a string" });
    return z.NEVER;
  }, text);

/** A whole number; its digits count as it. */
const wholeNumber = (number: z.ZodInt) =>
  z.preprocess((sent) => (typeof sent === "string" && /^\d{1,9}$/.test(sent) ? Number(sent) : sent), number);

/** An object; its JSON text counts as it. */
export const objectInput = <Schema extends z.ZodType>(schema: Schema) => {
  const bounded = bodyOf(schema);
  return z.preprocess((sent) => {
    if (typeof sent !== "string") return sent;
    try {
      return JSON.parse(sent);
    } catch {
      return sent;
    }
  }, bounded);
};

export const product = productInput.describe(`A product: its name (${productNames.join(", ")}) or its id.`);

export const usdc = (what: string) =>
  digits().describe(`${what}, in USDC base units as a decimal string: "1000000" is 1 USDC.`);

export const coverageAmount = usdc("The coverage, at least 100000000 (100 USDC)");

export const wallet = (what: string) =>
  z
    .string()
    .regex(/^0x[0-9a-fA-F]{40}$/, "must be 0x and 40 hex digits")
    .describe(what);

export const policyId = digits(
  z.string().regex(/^\d{1,78}$/, "must be a whole number in decimal digits"),
).describe("The policy's id, which counts per product.");

export const epochId = digits().describe('The bond: the month of its maturity, YYYYMM, such as "202812".');

export const bonds = (what: string) => digits().describe(`${what}, in whole dollars of face value.`);

/** The page of a list. */
export const page = {
  limit: wholeNumber(z.int().min(1).max(100)).optional().describe("Most entries, 1 to 100; 20 if left out."),
  cursor: z.string().optional().describe("`nextCursor` (or `next_cursor`) of the page before."),
};

export const offset = wholeNumber(z.int().min(0).max(10_000)).optional().describe("Entries to skip.");

/** Entries of a page unless the call says otherwise: a model reads every one. */
export const DEFAULT_PAGE = 20;

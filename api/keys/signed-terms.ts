/**
 * Compares a key request with what its wallet signed: the `Resources` of an EIP-4361 message name limits, and the replaced key.
 * Whoever bears the signature can then ask for nothing else.
 */
import { z } from "@hono/zod-openapi";
import { ApiError } from "../../lib/errors.ts";
import { keyLimitInputs } from "./schemas.ts";

/** Resources that begin otherwise are for somebody else. */
const PREFIX = "urn:parametric-cover:";

/** Whether a URN separates several values of the field by commas. */
const isList = (field: string): boolean => field === "scopes" || field === "products";

const signedTerms = z.object({
  replaces: z
    .string()
    .regex(/^[1-9]\d{0,14}$/, "must be the id of a key")
    .transform(Number)
    .optional(),
  ...keyLimitInputs,
});

/** The terms of a key, in a message or in a body. */
export type KeyTerms = z.output<typeof signedTerms>;

/** The fields by their names in a URN. */
const fieldNames: ReadonlyMap<string, keyof KeyTerms> = new Map([
  ["replaces", "replaces"],
  ["scopes", "scopes"],
  ["products", "products"],
  ["max-premium-per-purchase", "maxPremiumPerPurchase"],
  ["max-premium-per-day", "maxPremiumPerDay"],
]);

const invalid = (field: string, rule: string) =>
  new ApiError("invalid_body", `The body is not valid. ${field}: ${rule}`);

/** The terms in a message's resources. @throws ApiError `invalid_body` */
function termsIn(resources: readonly string[]): KeyTerms {
  const texts: Record<string, string | string[]> = {};
  for (const resource of resources) {
    if (!resource.toLowerCase().startsWith(PREFIX)) continue;
    const [name = "", value] = resource.slice(PREFIX.length).split(/:(.*)/s);
    const field = fieldNames.get(name);
    if (!field || value === undefined || field in texts)
      throw invalid(
        "message",
        `its resources may have ${PREFIX}{term}:{value} once for each of ${[...fieldNames.keys()].join(", ")}`,
      );
    texts[field] = isList(field) ? value.split(",") : value;
  }
  const { data, error } = signedTerms.safeParse(texts);
  if (data) return data;
  const [fault] = error.issues;
  throw invalid(
    "message",
    `the value of ${String(fault?.path[0])} in its resources is not valid: ${fault?.message}`,
  );
}

/** The same text for the same limit. */
const textOf = (term: KeyTerms[keyof KeyTerms]): string =>
  Array.isArray(term) ? [...term].sort().join(",") : String(term);

/**
 * Compares a body with the terms that the wallet signed. A limit may be in the body alone, because it only takes rights away; a key
 * is replaced only where the wallet signed that.
 * @throws ApiError `invalid_body` that names the field
 */
export function requireSignedTerms(resources: readonly string[], body: KeyTerms): void {
  const signed = termsIn(resources);
  for (const field of fieldNames.values()) {
    if (signed[field] !== undefined && textOf(signed[field]) !== textOf(body[field]))
      throw invalid(field, `must be what the message's resources have: ${textOf(signed[field])}`);
  }
  if (body.replaces !== undefined && signed.replaces === undefined)
    throw invalid(
      "replaces",
      `must be signed: send a message whose resources have ${PREFIX}replaces:${body.replaces}`,
    );
}

/** A body must agree with our resources in the signed message; resources of others do not count. */
import { expect, test } from "vitest";
import { type KeyTerms, requireSignedTerms } from "../../api/keys/signed-terms.ts";
import { productIdOf } from "../../lib/products.ts";

const urn = (text: string) => `urn:parametric-cover:${text}`;
const [btc, eth] = [productIdOf("FLASHBTC1H-001"), productIdOf("FLASHETH24-001")];

test.each<[string, string[], KeyTerms]>([
  ["nothing", [], { scopes: ["read"], maxPremiumPerDay: 1n }],
  ["nothing of ours", ["https://cover.example/terms", "urn:parametric-covers:scopes:buy"], {}],
  ["the same key", [urn("replaces:7")], { replaces: 7 }],
  ["the same scopes", [urn("scopes:buy,read,buy")], { scopes: ["read", "buy"] }],
  ["the same products", [urn(`products:FLASHETH24-001,${btc}`)], { products: [btc, eth] }],
  ["the same premium", [urn("max-premium-per-purchase:010")], { maxPremiumPerPurchase: 10n }],
  ["in other letters the same", ["URN:Parametric-Cover:replaces:7"], { replaces: 7 }],
])("a message may say %s", (_, resources, body) => {
  expect(() => requireSignedTerms(resources, body)).not.toThrow();
});

test.each<[string, string[], KeyTerms, RegExp]>([
  [
    "a key that it does not name",
    [urn("scopes:buy")],
    { scopes: ["buy"], replaces: 7 },
    /replaces: must be signed/,
  ],
  ["another key", [urn("replaces:7")], { replaces: 8 }, /replaces: must be what .*: 7$/],
  ["no key", [urn("replaces:7")], {}, /replaces: must be what .*: 7$/],
  ["more scopes", [urn("scopes:buy")], { scopes: ["buy", "read"] }, /scopes: must be what/],
  ["all scopes", [urn("scopes:buy")], {}, /scopes: must be what/],
  ["another product", [urn("products:FLASHBTC1H-001")], { products: [eth] }, /products: must be what/],
  [
    "a higher premium",
    [urn("max-premium-per-day:5")],
    { maxPremiumPerDay: 6n },
    /maxPremiumPerDay: must be what/,
  ],
])("a message does not count for %s", (_, resources, body, reason) => {
  expect(() => requireSignedTerms(resources, body)).toThrow(reason);
});

test.each([
  [[urn("replaces:0")], /the value of replaces .* must be the id of a key/],
  [[urn("replaces:7x")], /the value of replaces/],
  [[urn("scopes:all")], /the value of scopes/],
  [[urn("scopes:")], /the value of scopes/],
  [[urn("products:FLASHBTC")], /the value of products .* must be the id of a product, or a name/],
  [[urn("max-premium-per-day:1.5")], /the value of maxPremiumPerDay .* must be a non-negative integer/],
  [[urn("replaces")], /once for each of replaces, scopes/],
  [[urn("maxPremiumPerDay:5")], /once for each of replaces, scopes/],
  [[urn("replaces:7"), urn("replaces:7")], /once for each of replaces, scopes/],
])("the resources %j are refused", (resources, reason) => {
  expect(() => requireSignedTerms(resources, { replaces: 7 })).toThrow(reason);
});

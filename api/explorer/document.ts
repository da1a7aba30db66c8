import { z } from "@hono/zod-openapi";
import { API_VERSION } from "../http/api-version.ts";
import type { Api } from "../http/env.ts";
import { ErrorEnvelope, failures } from "../http/error-envelope.ts";
import { sharedTypes } from "../http/field-types.ts";
import { documentRateLimits } from "../http/limits/document.ts";
import { acceptsKey } from "../http/limits/middleware.ts";

const description = `
Parametric cover on an Ethereum L2: one HTTP call buys a policy. The service's relayer submits the transaction and pays
the gas; the buyer pays the premium in USDC, and has approved the cover router for it or signs a permit.

- The protocol's release V5.4 differs from the specification of this API here and there: [how, and what the service does](/docs/differences.md).
- On-chain integers are strings of decimal digits. USDC, coverage, payout and capacity have 6 decimals; prices and the
  protocol token have 18.
- \`blockNumber\` is a JSON number in a receipt (a purchase's, the sandbox's, a report's) and in \`chainStatus\`. Everywhere
  else a block number is a string of decimal digits.
- Addresses are accepted in any case and returned with their checksum.
- A name that an operation does not document, in a body, an object in it, or a query, is refused: 400 with the name and the nearest
  known one. A null member of a body counts as absent.
- A product is named by its id or by its name in the catalogue, in paths, queries and bodies alike.
- Every error has the same body (\`Error\`) and the header \`x-should-retry\`: \`true\` if the same call may be sent again later.
  Responses with status 429 or 503 have \`Retry-After\`, in seconds.
- In addition, any operation may return 400 \`validation_error\` for invalid percent-encoding or bytes that are not HTTP,
  404 \`not_found\` for an unknown address, 405 \`method_not_allowed\` with \`Allow\`, 408
  \`request_timeout\`, 413 \`payload_too_large\` above 64 KiB, 431 \`headers_too_large\`, and 500 \`internal_error\`.
- A key is sent in the header \`x-api-key\`, or as \`Authorization: Bearer\`. Two different keys are 401 \`unauthenticated\` wherever a key counts.
- Reads of the market, of policies by id and of statistics need no key and accept one: then the key's limit counts, which is
  the lower one for a free key, and all free keys of a client address have 1,200 of these calls a minute together. A key that is
  not valid is ignored there.
- Rate limits: 10 requests a minute for a free key, 100 for a paid one; reads of a purchase (\`GET /api/v1/purchases/{id}\`) are
  not among them: a key has 120 of these a minute, so that a client can wait for its purchase. A repeated \`POST\` counts like any
  other. Without a key a client address may make 120 reads
  and 10 live scans a minute, and 10 onboardings and 10 sandbox purchases an hour; an IPv6 client counts as its /64. The
  operator may have chosen other numbers. \`x-ratelimit-limit\`, \`x-ratelimit-remaining\` and \`x-ratelimit-reset\` (seconds)
  show the client's limit. Above it the response is 429 \`rate_limit\` (sandbox: 403 \`sandbox_cap_exceeded\`) with
  \`Retry-After\`. Unknown addresses, other methods than the allowed ones, malformed requests and CORS preflights count as
  reads. After 20 refused API keys within a minute, a client address gets 429 for a bad key until the minute ends; a valid key
  still passes. After 20 refused admin tokens, or 1,000 of all clients together, admin requests get 429 until it ends.
- A request has exactly one valid \`Host\` (HTTP/1.0: or none), otherwise it is 400 \`validation_error\`.
- A connection on which no byte moves for a minute is closed (longer where the operator lets purchases wait longer).
- Responses from the index have \`x-indexed-block\`: the block that they describe, and \`x-index-age\`: the seconds since its timestamp.
`.trim();

const tags = [
  { name: "discovery", description: "Health, contract addresses, and this document." },
  { name: "products", description: "Products and quotes." },
  { name: "policies", description: "Buy policies and read them." },
  { name: "bonds", description: "Bonds: payouts of triggered policies, redeemable at maturity." },
  { name: "redeem", description: "Report redemptions, and read reports." },
  { name: "marketplace", description: "Bonds for sale, and sales." },
  { name: "oracle", description: "Signed prices of the covered assets." },
  {
    name: "sandbox",
    description: "Buy a policy on the testnet with test money; no key or wallet needed.",
  },
  { name: "faucet", description: "Get ether and mock USDC on the testnet." },
  { name: "keys", description: "API keys: onboarding, listing, revoking." },
  { name: "delegations", description: "Let another wallet's keys spend a buyer's premiums." },
  {
    name: "webhooks",
    description:
      "Receive events by HTTP. The callback of `createWebhook` documents the requests to your server.",
  },
  {
    name: "admin",
    description: "For the operator: keys, stops, the relay ledger, late webhooks. Needs the admin token.",
  },
  { name: "stats", description: "Statistics and activity of the protocol." },
];

/**
 * Registers named schemas. To be called before all routes: the first registration of a name determines its description.
 */
export function registerSharedTypes(app: Api, eventSchemas: Readonly<Record<string, z.ZodType>>): void {
  for (const [name, schema] of Object.entries(sharedTypes)) app.openAPIRegistry.register(name, schema);
  app.openAPIRegistry.register("Error", ErrorEnvelope);
  for (const [name, schema] of Object.entries(eventSchemas)) app.openAPIRegistry.register(name, schema);
}

const eitherKeyHeader: Record<string, string[]>[] = [{ apiKey: [] }, { bearer: [] }];

/** Adds the second header of a key to the routes that take one, and the optional key to public reads that count for it. */
function documentKeys(app: Api): void {
  for (const definition of app.openAPIRegistry.definitions) {
    if (definition.type !== "route") continue;
    const { route } = definition;
    if (route.security?.some((one) => "apiKey" in one)) route.security = eitherKeyHeader;
    if (route.security || !acceptsKey(route.path)) continue;
    route.security = [{}, ...eitherKeyHeader];
    route.responses = { ...failures("unauthenticated"), ...route.responses };
  }
}

const annotations: readonly string[] = ["description", "example"];
const isAnnotation = (part: unknown): part is object =>
  typeof part === "object" && part !== null && Object.keys(part).every((name) => annotations.includes(name));

/** An object that needs one of several fields. */
const eitherField = z.looseObject({
  anyOf: z.array(z.strictObject({ required: z.array(z.string()) })),
  required: z.array(z.string()),
  description: z.string().optional(),
  example: z.unknown(),
});

/**
 * Writes schemas so that generators find their types. What a field says of a named schema stands beside `allOf`: a part of it would be a
 * second type. An object that needs one of several fields is spelled out for each: a part that names the field alone would be of any type.
 */
function forGenerators(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if ("anyOf" in value && "properties" in value) {
    const { anyOf, description, example, required, ...rest } = eitherField.parse(value);
    const objects = anyOf.map((either) => ({ ...rest, required: [...either.required, ...required] }));
    return { anyOf: objects, description, example };
  }
  if (!("allOf" in value)) return value;
  const [schema, said, ...more]: unknown[] = Array.isArray(value.allOf) ? value.allOf : [];
  return isAnnotation(said) && more.length === 0 ? { allOf: [schema], ...said } : value;
}

/** The OpenAPI 3.0.3 document of all routes added to `app` so far, as JSON, without `servers`. */
export function openApiDocument(app: Api): string {
  app.openAPIRegistry.registerComponent("securitySchemes", "apiKey", {
    type: "apiKey",
    in: "header",
    name: "x-api-key",
    description: "`lk_` and 64 hex digits. In this header or as a bearer token, never in a URL.",
  });
  app.openAPIRegistry.registerComponent("securitySchemes", "bearer", {
    type: "http",
    scheme: "bearer",
    description:
      "The same key as `Authorization: Bearer lk_…`. Other schemes are ignored. If both headers are sent, they must have the same key; otherwise it is 401 `unauthenticated`.",
  });
  app.openAPIRegistry.registerComponent("securitySchemes", "adminToken", {
    type: "apiKey",
    in: "header",
    name: "x-admin-token",
    description: "The operator's token.",
  });
  documentKeys(app);
  documentRateLimits(app);
  const info = { title: "Parametric Cover Service", version: API_VERSION, description };
  return JSON.stringify(app.getOpenAPIDocument({ openapi: "3.0.3", info, tags }), forGenerators);
}

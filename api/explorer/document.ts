import type { Api } from "../http/env.ts";
import { ErrorEnvelope } from "../http/error-envelope.ts";
import { sharedTypes } from "../http/field-types.ts";
import { documentRateLimits } from "../http/limits/document.ts";
import { eventSchemas } from "../webhooks/events.schemas.ts";

/** Version of the API's description; the protocol's release is another number. */
export const API_VERSION = "0.1.0";

const description = `
Parametric cover on an Ethereum L2: one HTTP call buys a policy. The service's relayer submits the transaction and pays
the gas; the buyer pays the premium in USDC, and must have approved the cover router for it.

- On-chain integers are strings of decimal digits. USDC, coverage, payout and capacity have 6 decimals; prices and the
  protocol token have 18.
- Addresses are accepted in any case and answered with their checksum.
- Every failure has the same body (\`Error\`). Answers with status 503 carry \`Retry-After\`, in seconds.
- Any address may answer, besides what it lists: 400 \`validation_error\` for a broken percent-encoding or bytes that are
  no HTTP, 404 \`not_found\` for an unknown address, 405 \`method_not_allowed\` with \`Allow\`, 408 \`request_timeout\`, 413
  \`payload_too_large\` above 1 MiB, 431 \`headers_too_large\`, and 500 \`internal_error\`.
- A key of the free tier may make 10 requests a minute, one of the paid tier 100. Reads that need no credential are limited
  by client address, to 120 a minute, live scans of the chain, apart from those, to 10, onboarding and the sandbox's
  purchases to 10 an hour each; the operator may have chosen other numbers. Each answer tells where the client stands in
  \`x-ratelimit-limit\`, \`x-ratelimit-remaining\` and \`x-ratelimit-reset\` (seconds); beyond the limit it is 429
  \`rate_limit\`, for the sandbox 403 \`sandbox_cap_exceeded\`, with \`Retry-After\`. So it is, for a minute, after 20
  refused credentials. An IPv6 client is its /64.
- Answers out of the index carry \`x-indexed-block\`: the block as of which they are true.
`.trim();

const tags = [
  { name: "discovery", description: "Contracts, health and this document." },
  { name: "products", description: "What can be bought, and at what price." },
  { name: "policies", description: "Buying cover, and reading it." },
  {
    name: "sandbox",
    description: "Buying a policy on the testnet, at once and for nothing: neither key nor wallet is needed.",
  },
  { name: "faucet", description: "Ether and mock USDC on the testnet, for wallets of one's own." },
  { name: "agent", description: "A wallet's own keys, and what buyers let it spend." },
  { name: "keys", description: "API keys." },
  {
    name: "webhooks",
    description:
      "Events sent to an address of one's own; `createWebhook` describes the calls, its callbacks the bodies.",
  },
  { name: "stats", description: "Indexed reads." },
];

/** To be called ahead of all routes: the first registration of a name decides how the document describes it. */
export function registerSharedTypes(app: Api): void {
  for (const [name, schema] of Object.entries(sharedTypes)) app.openAPIRegistry.register(name, schema);
  app.openAPIRegistry.register("Error", ErrorEnvelope);
  for (const [name, schema] of Object.entries(eventSchemas)) app.openAPIRegistry.register(name, schema);
}

/** The OpenAPI 3.0.3 document of all routes that were added to `app` so far. */
export function openApiDocument(app: Api) {
  app.openAPIRegistry.registerComponent("securitySchemes", "apiKey", {
    type: "apiKey",
    in: "header",
    name: "x-api-key",
    description: "`lk_` and 64 hex digits. Only in this header, never in an address.",
  });
  app.openAPIRegistry.registerComponent("securitySchemes", "adminToken", {
    type: "apiKey",
    in: "header",
    name: "x-admin-token",
    description: "The operator's token.",
  });
  documentRateLimits(app);
  return app.getOpenAPIDocument({
    openapi: "3.0.3",
    info: { title: "Parametric Cover Service", version: API_VERSION, description },
    servers: [{ url: "/" }],
    tags,
  });
}

/** Tools that read: products, quotes, policies, claims, listings, statistics. */
import type { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { type CallApi, toolResult } from "./api-call.ts";
import {
  coverageAmount,
  DEFAULT_PAGE,
  offset,
  page,
  policyId,
  product,
  toolInput,
  usdc,
  wallet,
} from "./inputs.ts";

/** The addresses of the statistics, by topic. */
export const statistics = {
  cover: "/api/v1/stats/cover",
  protocol: "/api/v1/stats/protocol",
  products: "/api/v1/stats/products",
  vault: "/api/v1/stats/vault",
  maturities: "/api/v1/stats/bonds/maturities",
  queue: "/api/v1/stats/queue",
  market: "/api/v1/stats/market",
  prices: "/api/v1/stats/prices",
  burns: "/api/v1/stats/burns",
} as const;

const topic = z
  .enum(["cover", "protocol", "products", "vault", "maturities", "queue", "market", "prices", "burns"])
  .describe(
    "`cover`: active cover; `protocol`: totals; `products`: premium, payouts and loss ratio by product; `vault`: reserve and capacity; `maturities`: bonds by month; `queue`: redemptions that wait; `market`: sales and yields; `prices`: of the covered assets; `burns`: of the protocol's token.",
  );

const readOnly = { readOnlyHint: true, openWorldHint: false } as const;

/** Adds the tools that change nothing. Only `my_policies` needs a key. */
export function addReadingTools(server: McpServer, call: CallApi): void {
  const get = async (path: string, query?: Record<string, string | number | undefined>) =>
    toolResult(await call({ method: "GET", path, ...(query ? { query } : {}) }));

  server.registerTool(
    "products",
    {
      title: "List products",
      description: "All products with their terms, and whether they are sold.",
      inputSchema: toolInput({}),
      annotations: readOnly,
    },
    () => get("/products"),
  );
  server.registerTool(
    "quote",
    {
      title: "Get a quote",
      description: "What a policy costs now, what it pays, and by which fall of the price, in what time.",
      inputSchema: toolInput({ product, coverageAmount }),
      annotations: readOnly,
    },
    ({ product: id, coverageAmount: coverage }) => get(`/products/${id}/quote`, { coverageAmount: coverage }),
  );
  server.registerTool(
    "policy",
    {
      title: "Get a policy",
      description: "One policy: its status, its trigger price, and how far the price is from it.",
      inputSchema: toolInput({ product, policyId }),
      annotations: readOnly,
    },
    ({ product: id, policyId: number }) => get(`/policies/${id}/${number}`),
  );
  server.registerTool(
    "my_policies",
    {
      title: "List my policies",
      description: "The policies of the API key's wallet, newest first. Needs a key with the scope `read`.",
      inputSchema: toolInput(page),
      annotations: readOnly,
    },
    ({ limit = DEFAULT_PAGE, cursor }) => get("/api/v1/policies", { limit, cursor }),
  );
  server.registerTool(
    "claims",
    {
      title: "List claims",
      description: "Triggered policies, newest first, with what was paid and how long it took.",
      inputSchema: toolInput({
        product: product.optional(),
        buyer: wallet("Only claims of this buyer.").optional(),
        ...page,
      }),
      annotations: readOnly,
    },
    ({ product: id, buyer, limit = DEFAULT_PAGE, cursor }) =>
      get("/api/v1/stats/claims", { product: id, buyer, limit, cursor }),
  );
  server.registerTool(
    "listings",
    {
      title: "List bonds for sale",
      description: "Bonds for sale on the marketplace, the cheapest first.",
      inputSchema: toolInput({
        maxPriceUsdc: usdc("Highest price of a listing").optional(),
        seller: wallet("Only listings of this seller.").optional(),
        limit: page.limit,
        offset,
      }),
      annotations: readOnly,
    },
    ({ maxPriceUsdc, seller, limit = DEFAULT_PAGE, offset: skipped }) =>
      get("/api/v1/marketplace/listings", { maxPriceUsdc, seller, limit, offset: skipped }),
  );
  server.registerTool(
    "stats",
    {
      title: "Get statistics",
      description: "Statistics of the protocol by topic.",
      inputSchema: toolInput({ topic }),
      annotations: readOnly,
    },
    ({ topic: of }) => get(statistics[of]),
  );
}

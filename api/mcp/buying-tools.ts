/** Tools that buy a policy: with the key's wallet, or with test money in the sandbox. */
import type { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { idempotencyKeyInput } from "../http/idempotency-key.ts";
import { requestObject } from "../http/request-object.ts";
import { type CallApi, toolResult } from "./api-call.ts";
import { coverageAmount, digits, objectInput, product, toolInput, usdc, wallet } from "./inputs.ts";

const requestId = idempotencyKeyInput.describe(
  "A new UUID for each purchase that is wanted. The same again never buys twice: it returns the first purchase.",
);

const permit = objectInput(
  requestObject({
    value: usdc("The allowance"),
    deadline: digits().describe("Unix seconds, at least 15 minutes ahead."),
    signature: z.string().describe("The buyer's signature of the permit, as hex."),
  }),
).describe("The buyer's EIP-2612 permit of USDC for the cover router, where it has given no approval.");

const me = z.object({ wallet: z.string() });

/** Adds the tools that spend. What a key may spend is the ledger's to decide, by the key's own limits. */
export function addBuyingTools(server: McpServer, call: CallApi): void {
  server.registerTool(
    "buy_policy",
    {
      title: "Buy a policy",
      description:
        "Buys a policy with the buyer's USDC; the service pays the gas. Needs a key with the scope `buy`, within the key's limits. Ask for a quote first, and set `maxPremium` to the most that the user agreed to. If no answer comes, or `purchase_pending`, call again with the same `requestId`.",
      inputSchema: toolInput({
        product,
        coverageAmount,
        maxPremium: usdc("The most that may be paid for it: above it nothing is bought"),
        requestId,
        buyer: wallet(
          "Who pays and owns the policy: the key's wallet, which is the default, or one that has delegated to it.",
        ).optional(),
        permit: permit.optional(),
      }),
      annotations: {
        readOnlyHint: false,
        destructiveHint: true,
        idempotentHint: true,
        openWorldHint: true,
      },
    },
    async ({ product: productId, requestId: idempotencyKey, buyer: named, ...terms }) => {
      let buyer = named;
      if (buyer === undefined) {
        const holder = await call({ method: "GET", path: "/api/v1/auth/me" });
        if (!holder.ok) return toolResult(holder);
        buyer = me.parse(holder.body).wallet;
      }
      const bought = await call({
        method: "POST",
        path: "/api/v1/policies",
        headers: { "idempotency-key": idempotencyKey },
        body: { productId, buyer, ...terms },
      });
      return toolResult(bought);
    },
  );
  server.registerTool(
    "sandbox_try",
    {
      title: "Try a purchase in the sandbox",
      description:
        "Buys a policy on the testnet with worthless test money of the service. Needs no key. Ten an hour.",
      inputSchema: toolInput({ product: product.optional(), requestId }),
      annotations: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: true,
      },
    },
    async ({ product: productId, requestId: idempotencyKey }) =>
      toolResult(
        await call({
          method: "POST",
          path: "/sandbox/try",
          headers: { "idempotency-key": idempotencyKey },
          body: { productId },
        }),
      ),
  );
}

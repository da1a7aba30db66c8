import { type LocalAccount, parseUnits } from "viem";
import { z } from "zod";
import { approveUsdc, mintUsdc } from "../../../scripts/local/protocol/actions/index.ts";
import type { HttpAnswer } from "../../support/http.ts";
import { issueKey, type TestApi } from "./api.ts";

export type Buyer = {
  readonly account: LocalAccount;
  readonly headers: { readonly "x-api-key": string };
  /** Sends one purchase with the buyer as payer; `body` overrides the defaults. */
  readonly buy: (body?: Record<string, unknown>, headers?: Record<string, string>) => Promise<HttpAnswer>;
};

/** A wallet with a million USDC, an allowance for the router, and a key. */
export async function createBuyer(api: TestApi, account: LocalAccount): Promise<Buyer> {
  const { coverRouter } = api.chain.deployment.contracts;
  await mintUsdc(api.protocol, account, account.address, parseUnits("1000000", 6));
  await approveUsdc(api.protocol, account, coverRouter);
  return createKeyHolder(api, account);
}

/** A wallet with a key, without USDC or allowance. */
export async function createKeyHolder(api: TestApi, account: LocalAccount): Promise<Buyer> {
  const { headers } = await issueKey(api.request, account.address);
  const defaults = { productName: "FLASHBTC1H-001", coverageAmount: "100000000", buyer: account.address };
  return {
    account,
    headers,
    buy: (body = {}, more = {}) =>
      api.request("/api/v1/policies", { headers: { ...headers, ...more }, body: { ...defaults, ...body } }),
  };
}

const receipt = z.object({
  purchaseId: z.string(),
  txHash: z.templateLiteral(["0x", z.string()]),
  blockNumber: z.number(),
  policyId: z.string(),
  productId: z.templateLiteral(["0x", z.string()]),
  premiumPaid: z.string(),
});

/** The receipt in a response. @throws when the response has none */
export const receiptOf = (answer: HttpAnswer) => receipt.parse(answer.json);

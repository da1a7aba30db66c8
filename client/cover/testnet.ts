/** Sandbox and faucet: the testnet with worthless money. Neither needs a key. */
import { withBigints } from "../bigints.ts";
import { randomHex } from "../random.ts";
import { type Context, given, type Options, read } from "./context.ts";
import { productInput } from "./products.ts";

/** The sandbox's state, terms and funds. */
export const sandboxInfo = (context: Context, options: Options = {}) =>
  read(context, "/sandbox/info", given(options));

/**
 * Buys a policy of 100 USDC on the testnet; the sandbox's own wallet pays.
 * @param product name or id; the sandbox's own if left out
 * @throws ApiError `sandbox_cap_exceeded`, `sandbox_disabled`, `sandbox_unready` …; ConnectionError
 */
export async function trySandbox(
  { api }: Context,
  { product, idempotencyKey = randomHex() }: { product?: string; idempotencyKey?: string } = {},
  options: Options = {},
) {
  const body = product === undefined ? {} : productInput(product);
  const headers = { "idempotency-key": idempotencyKey };
  return withBigints(await api.post("/sandbox/try", { body, headers, ...given(options) }));
}

/** The faucet's state and what it pays. */
export const faucetStatus = (context: Context, options: Options = {}) =>
  read(context, "/api/v1/faucet/status", given(options));

/**
 * Test ETH and mock USDC for a wallet, once in 24 hours. A repeated claim gets the same answer and pays nothing twice.
 * @throws ApiError `wallet_rate_limited`, `ip_rate_limited`, `daily_cap_reached`, `faucet_disabled` …; ConnectionError
 */
export const claimFaucet = ({ api }: Context, wallet: string, options: Options = {}) =>
  api.post("/api/v1/faucet/claim", { body: { wallet }, ...given(options) });

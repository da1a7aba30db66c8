/** API keys of a wallet. */
import { hasCode } from "../api-error.ts";
import type { Client } from "../client.ts";
import type { Schema } from "../operations.ts";
import { randomHex } from "../random.ts";
import { askWallet, isString } from "../wallet-error.ts";
import type { Wallet } from "../wallets.ts";
import { type Context, given, type Options } from "./context.ts";

export type IssuedKey = Schema<"IssuedKey">;

export type OnboardOptions = Options & {
  /** Purpose of the key, at most 100 characters. */
  readonly label?: string;
};

/** Keys whose answer was lost exist, and count: a wallet has three at most, so nobody signs for ever. */
const SIGNATURES = 3;

const hexOf = (text: string): string =>
  Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, "0")).join("");

/** Mixed case is a checksum, which EIP-4361 demands. */
const hasChecksum = (address: string): boolean => /[a-f]/.test(address) && /[A-F]/.test(address);

/** The page's address, to which a client without `baseUrl` belongs; undefined elsewhere than in a browser. */
function pageAddress(): string | undefined {
  const location: unknown = Reflect.get(globalThis, "location");
  return location === undefined ? undefined : String(location);
}

/** The text to sign: Sign-In with Ethereum, which counts for this API alone, where the wallet knows its checksum. */
async function signInText(api: Client, { address }: Wallet, options: Options) {
  const now = new Date();
  const timestamp = Math.floor(now.getTime() / 1000);
  if (!hasChecksum(address)) return { text: `Service onboarding for ${address} at ${timestamp}`, timestamp };
  const { chain } = await api.get("/health", options);
  const { host, origin } = new URL(api.address("/health"), pageAddress());
  const text = [
    `${host} wants you to sign in with your Ethereum account:`,
    ...[address, "", "Make an API key.", "", `URI: ${origin}`, "Version: 1", `Chain ID: ${chain.chainId}`],
    `Nonce: ${randomHex()}`,
    `Issued At: ${now.toISOString()}`,
  ].join("\n");
  return { text, message: text };
}

/**
 * Lets a wallet sign a message, and gets a key for it, which is shown only here. A wallet has three at most: revoke it when
 * it is no longer needed.
 * @throws WalletError; ApiError `cap_reached`, `stale_timestamp` …; ConnectionError
 */
export async function onboard(
  { api }: Context,
  wallet: Wallet,
  { label, ...options }: OnboardOptions = {},
): Promise<IssuedKey> {
  for (let signatures = 1; ; signatures += 1) {
    const { text, ...terms } = await signInText(api, wallet, given(options));
    const params = [`0x${hexOf(text)}`, wallet.address];
    const signature = await askWallet(wallet.provider, "personal_sign", params, isString);
    const body = { walletAddress: wallet.address, signature, ...terms, ...(label ? { label } : {}) };
    try {
      return await api.post("/api/v1/agent/onboard", { body, ...given(options) });
    } catch (error) {
      // The call was repeated, and the first one has made a key that nobody knows.
      if (!hasCode(error, "signature_used") || signatures === SIGNATURES) throw error;
    }
  }
}

/** The wallet, tier and number of the client's key. @throws ApiError `unauthenticated` */
export const getMe = ({ api }: Context, options: Options = {}) => api.get("/api/v1/auth/me", given(options));

/** The wallet's active keys, without the keys themselves. */
export const listKeys = async ({ api }: Context, options: Options = {}) =>
  (await api.get("/api/v1/agent/keys", given(options))).keys;

/** Revokes a key of the same wallet at once. @throws ApiError `key_not_found` */
export const revokeKey = ({ api }: Context, keyId: number, options: Options = {}) =>
  api.delete("/api/v1/agent/keys/{keyId}", { path: { keyId }, ...given(options) });

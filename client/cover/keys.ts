/** API keys of a wallet. */
import { hasCode } from "../api-error.ts";
import type { Client } from "../client.ts";
import { type SignIn, onboard as sendSignIn, signInMessage, timedMessage } from "../onboard.ts";
import type { Schema } from "../operations.ts";
import type { Wallet } from "../wallets.ts";
import { type Context, given, type Options } from "./context.ts";

export type IssuedKey = Schema<"IssuedKey">;

export type OnboardOptions = Options & {
  /** Purpose of the key, at most 100 characters. */
  readonly label?: string;
};

/** Keys whose answer was lost exist, and count: a wallet has three at most, so nobody signs for ever. */
const SIGNATURES = 3;

/** Mixed case is a checksum, which EIP-4361 demands. */
const hasChecksum = (address: string): boolean => /[a-f]/.test(address) && /[A-F]/.test(address);

/** The page's address, to which a client without `baseUrl` belongs; undefined elsewhere than in a browser. */
function pageAddress(): string | undefined {
  const location: unknown = Reflect.get(globalThis, "location");
  return location === undefined ? undefined : String(location);
}

/** Sign-In with Ethereum, which counts for this API alone, where the wallet knows its address with the checksum. */
async function signInFor(api: Client, { address }: Wallet, call: Options): Promise<SignIn> {
  if (!hasChecksum(address)) return timedMessage(address);
  const { chain } = await api.get("/health", call);
  const site = new URL(api.address("/health"), pageAddress());
  return { message: signInMessage({ address, chainId: chain.chainId, site, statement: "Make an API key." }) };
}

/**
 * Lets a wallet sign a message, and gets a key for it, which is shown only here. A wallet has three at most: revoke it when
 * it is no longer needed.
 * @throws WalletError; ApiError `cap_reached`, `stale_timestamp` …; ConnectionError
 */
export async function onboard(
  { api }: Context,
  wallet: Wallet,
  options: OnboardOptions = {},
): Promise<IssuedKey> {
  const call = given(options);
  for (let signatures = 1; ; signatures += 1) {
    const signIn = await signInFor(api, wallet, call);
    try {
      return await sendSignIn(api, wallet, signIn, options);
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

/** API keys of a wallet. */
import { hasCode } from "../api-error.ts";
import { type WithBigints, withBigints } from "../bigints.ts";
import type { Client } from "../client.ts";
import {
  type KeyTerms,
  keyResources,
  type SignIn,
  onboard as sendSignIn,
  signInMessage,
  timedMessage,
} from "../onboard.ts";
import type { Schema } from "../operations.ts";
import { pause } from "../pause.ts";
import type { Wallet } from "../wallets.ts";
import { type Context, given, type Options, read } from "./context.ts";

export type IssuedKey = WithBigints<Schema<"IssuedKey">>;

/** A key's label and limits. What is left out is no limit, and limits never change. */
export type OnboardOptions = Options &
  Pick<KeyTerms, "label" | "scopes" | "products" | "replaces"> & {
    /** The most premium of one purchase, and of all that are accepted in a UTC day. USDC, 6 decimals. */
    readonly maxPremiumPerPurchase?: bigint;
    readonly maxPremiumPerDay?: bigint;
    /** The API's public address, `https://…`, which the signed message names; the client's `baseUrl` if left out. */
    readonly site?: string;
  };

const decimalOf = (amount: bigint | undefined) => (amount === undefined ? undefined : String(amount));

/** Keys whose answer was lost exist, and count: a wallet has three at most, so nobody signs for ever. */
const SIGNATURES = 3;
/** A message counts by its second: one of the same second would be refused again. */
const NEXT_SECOND_MS = 1000;

/** Mixed case is a checksum, which EIP-4361 demands. */
const hasChecksum = (address: string): boolean => /[a-f]/.test(address) && /[A-F]/.test(address);

/** The page's address, to which a client without `baseUrl` belongs; undefined elsewhere than in a browser. */
function pageAddress(): string | undefined {
  const location: unknown = Reflect.get(globalThis, "location");
  return location === undefined ? undefined : String(location);
}

/**
 * Sign-In with Ethereum, which counts for this API and these terms alone, where the wallet knows its address with the checksum.
 * @throws Error when a key is to be replaced without one
 */
async function signInFor(
  api: Client,
  { address }: Wallet,
  terms: KeyTerms,
  publicAddress: string | undefined,
  call: Options,
): Promise<SignIn> {
  if (!hasChecksum(address)) {
    if (terms.replaces === undefined) return timedMessage(address);
    throw new Error(
      "to replace a key, give the wallet's address with its checksum: viem's getAddress writes it",
    );
  }
  const { chain } = await api.get("/health", call);
  const site = new URL(publicAddress ?? api.address("/health"), pageAddress());
  const resources = keyResources(terms);
  const statement = "Make an API key.";
  return { message: signInMessage({ address, chainId: chain.chainId, site, statement, resources }) };
}

/**
 * Lets a wallet sign a message, and gets a key for it, which is shown only here: one with limits for an agent. A wallet has three
 * at most: revoke it when it is no longer needed. If a key is lost, a new one replaces it (`replaces`, its id).
 * @throws WalletError; ApiError `cap_reached`, `stale_timestamp` …; ConnectionError
 */
export async function onboard(
  { api }: Context,
  wallet: Wallet,
  options: OnboardOptions = {},
): Promise<IssuedKey> {
  const call = given(options);
  const { site, maxPremiumPerPurchase, maxPremiumPerDay, ...rest } = options;
  const terms = {
    ...rest,
    maxPremiumPerPurchase: decimalOf(maxPremiumPerPurchase),
    maxPremiumPerDay: decimalOf(maxPremiumPerDay),
  };
  for (let signatures = 1; ; signatures += 1) {
    const signIn = await signInFor(api, wallet, terms, site, call);
    try {
      return withBigints(await sendSignIn(api, wallet, signIn, terms));
    } catch (error) {
      // The call was repeated, and the first one has made a key that nobody knows.
      if (!hasCode(error, "signature_used") || signatures === SIGNATURES) throw error;
      await pause(NEXT_SECOND_MS, options.signal);
    }
  }
}

/** The client's key: its wallet, tier and limits, and what it may still spend today. @throws ApiError `unauthenticated` */
export const getMe = (context: Context, options: Options = {}) =>
  read(context, "/api/v1/auth/me", given(options));

/** The wallet's active keys, without the keys themselves. */
export const listKeys = async (context: Context, options: Options = {}) =>
  (await read(context, "/api/v1/agent/keys", given(options))).keys;

/**
 * Revokes a key of the same wallet at once.
 * @throws ApiError `key_not_found`; `unauthenticated` for the client's own key when it is revoked already: the answer to the first
 *   try may have been lost
 */
export const revokeKey = ({ api }: Context, keyId: number, options: Options = {}) =>
  api.delete("/api/v1/agent/keys/{keyId}", { path: { keyId }, ...given(options) });

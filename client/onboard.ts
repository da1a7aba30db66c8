/** A key of the API for whoever holds a wallet: the wallet signs a message (EIP-4361, Sign-In with Ethereum). */
import type { Client } from "./client.ts";
import type { CallOptions, Schema } from "./operations.ts";
import { randomHex } from "./random.ts";
import { signText } from "./signing.ts";
import type { Wallet } from "./wallets.ts";

export type SignInTerms = {
  /** With its checksum, as the API writes it. */
  readonly address: string;
  /** The main chain of the API. */
  readonly chainId: number;
  /** Where the API is: `location` of a page that it has served. Its host is in the message, so that wallets can warn of a false one. */
  readonly site: { readonly host: string; readonly origin: string };
  /** One line that says to the wallet's owner what the signature is for. */
  readonly statement: string;
  /** Bind the signature to a key's terms: see {@link keyResources}. */
  readonly resources?: readonly string[];
};

/** The message to sign: it counts for five minutes, for this API alone, and makes one key. */
export const signInMessage = ({ address, chainId, site, statement, resources = [] }: SignInTerms): string =>
  [
    `${site.host} wants you to sign in with your Ethereum account:`,
    address,
    "",
    statement,
    "",
    `URI: ${site.origin}`,
    "Version: 1",
    `Chain ID: ${chainId}`,
    `Nonce: ${randomHex()}`,
    `Issued At: ${new Date().toISOString()}`,
    ...(resources.length === 0 ? [] : ["Resources:"]),
    ...resources.map((resource) => `- ${resource}`),
  ].join("\n");

/** What a wallet signs for a key: a message that says all, or one that counts for any API of this kind, with its time. */
export type SignIn = {
  readonly message: string;
  /** Unix time in seconds, of a message that {@link timedMessage} made. */
  readonly timestamp?: number;
};

/** The message of a wallet that does not know its address with the checksum, which EIP-4361 demands. */
export function timedMessage(address: string): SignIn {
  const timestamp = Math.floor(Date.now() / 1000);
  return { message: `Service onboarding for ${address} at ${timestamp}`, timestamp };
}

/** What a new key is for. What is left out is no limit, and limits never change. Premiums are USDC with 6 decimals, in digits. */
export type KeyTerms = Omit<Schema<"Onboard">, "walletAddress" | "signature" | "message" | "timestamp">;

/**
 * The resources of a message that state a key's terms: whoever bears the signature gets no other key. A key is replaced only by such
 * a message.
 */
export const keyResources = ({
  replaces,
  scopes,
  products,
  maxPremiumPerPurchase,
  maxPremiumPerDay,
}: KeyTerms): string[] =>
  Object.entries({
    ...{ replaces, scopes, products },
    ...{ "max-premium-per-purchase": maxPremiumPerPurchase, "max-premium-per-day": maxPremiumPerDay },
  }).flatMap(([name, value]) => (value === undefined ? [] : [`urn:parametric-cover:${name}:${value}`]));

/**
 * Lets a wallet sign a message of {@link signInMessage} or {@link timedMessage}, and gets a key for it. The key is shown only
 * here; a wallet has three at most: revoke it when it is no longer needed.
 * @throws WalletError; ApiError `cap_reached`, `stale_timestamp` …; ConnectionError: sign a new message then
 */
export async function onboard(
  client: Client,
  wallet: Wallet,
  { message, timestamp }: SignIn,
  { headers, signal, timeoutMs, ...terms }: CallOptions & KeyTerms = {},
): Promise<Schema<"IssuedKey">> {
  const signature = await signText(wallet, message);
  const signed = timestamp === undefined ? { message } : { timestamp };
  const body = { ...terms, walletAddress: wallet.address, signature, ...signed };
  return client.post("/api/v1/agent/onboard", { body, headers, signal, timeoutMs });
}

/** EIP-4361 messages (Sign-In with Ethereum) for onboarding. They name host and chain, so they count for no other deployment. */
import { type Address, isAddressEqual } from "viem";
import { createSiweMessage, parseSiweMessage, type SiweMessage } from "viem/siwe";
import { ApiError } from "../../lib/errors.ts";
import { requireFresh, type SignedTexts } from "./onboarding.ts";

/** What a message must name. */
export type SignInTerms = {
  readonly wallet: Address;
  /** The api's host, with its port unless it is the scheme's default. */
  readonly domain: string;
  readonly chainId: number;
};

const invalid = (rule: string) => new ApiError("invalid_body", `The body is not valid. message: ${rule}`);
const stale = (rule: string) => new ApiError("stale_timestamp", `The message's ${rule}.`);

const inSeconds = (time: Date): number => Math.floor(time.getTime() / 1000);

const TIMES = /^(Issued At|Expiration Time|Not Before): (.+)$/gm;

/**
 * The fields of a message; undefined unless EIP-4361 makes exactly this text of them, apart from the precision of its times.
 * Wallets warn of a false host, but only in messages that they can read: viem's parser alone reads more than they do.
 */
function fieldsOf(text: string): (SiweMessage & { issuedAt: Date }) | undefined {
  const { address, chainId, domain, issuedAt, nonce, uri, version, ...more } = parseSiweMessage(text);
  if (!address || !chainId || !domain || !issuedAt || !nonce || !uri || !version) return undefined;
  const fields = { address, chainId, domain, issuedAt, nonce, uri, version, ...more };
  try {
    const precise = text.replace(TIMES, (_, name, time) => `${name}: ${new Date(time).toISOString()}`);
    return createSiweMessage(fields) === precise ? fields : undefined;
  } catch {
    return undefined; // an invalid field
  }
}

/**
 * Checks everything in a message but its signature; `now` in whole Unix seconds.
 * @throws ApiError `invalid_body` for a message of another form, address, host or chain; `stale_timestamp` when it was not
 *   issued lately, has expired or is not valid yet
 */
export function signInMessage(
  text: string,
  { wallet, domain, chainId }: SignInTerms,
  now: number,
): SignedTexts {
  const message = fieldsOf(text);
  if (!message)
    throw invalid(
      "must be an EIP-4361 message of version 1 with a checksummed address, for a dotted name, an IPv4 address or localhost",
    );
  if (!isAddressEqual(message.address, wallet)) throw invalid(`must name the address ${wallet}`);
  if (message.domain !== domain) throw invalid(`must name the domain ${domain}`);
  if (message.chainId !== chainId) throw invalid(`must have the Chain ID ${chainId}`);
  const { issuedAt, expirationTime, notBefore, resources = [] } = message;
  const at = inSeconds(issuedAt);
  requireFresh("message's Issued At", at, now);
  if (expirationTime && inSeconds(expirationTime) <= now) throw stale("Expiration Time has passed");
  if (notBefore && inSeconds(notBefore) > now) throw stale("Not Before is in the future");
  return { texts: [text], at, resources };
}

import { Resolver } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";
import { within } from "../timeout.ts";
import type { AllowedHost } from "./allowed-hosts.ts";
import { describeNonPublic } from "./public-addresses.ts";

/**
 * Which URLs webhooks may call, with one rule for creation, test calls and deliveries: https on port 443 of a public address,
 * or a host that the operator allowed. Each connection resolves the host name anew and connects to the checked addresses, so a
 * DNS answer that changes after the webhook's creation cannot redirect a delivery.
 */

/** Characters of a URL. */
const MAX_LENGTH = 2048;
/** Timeout of one DNS query, in ms, and how often it is tried. */
const DNS_TIMEOUT_MS = 2000;
const DNS_TRIES = 2;
/** Timeout of resolving a name, with all its queries, in ms. */
const RESOLVE_MS = 8000;

/** Resolves a name to its addresses, none when it does not exist. Rejects with {@link ResolverUnavailable}. */
export type Resolve = (name: string) => Promise<readonly string[]>;

/** The name servers did not answer, so it is unknown whether a target is allowed. */
export class ResolverUnavailable extends Error {
  override name = "ResolverUnavailable";
}

/** Webhooks must not call this target. */
export class TargetRefused extends Error {
  override name = "TargetRefused";
}

/** A webhook's URL. `allowed`: the operator allows its host, so its addresses are not checked. */
export type Target = { readonly url: URL; readonly allowed: boolean };
/** `reason` follows the field's name in the message to the client. */
export type Refusal = { readonly ok: false; readonly reason: string };
/** `url` is normalised. */
export type Verdict = { readonly ok: true; readonly url: string } | Refusal;

export type TargetGuard = {
  /** Checks the URL and the addresses of its host. Rejects with {@link ResolverUnavailable}. */
  check(url: string): Promise<Verdict>;
  /** Checks the URL without resolving a host name. For an IP address the check is complete. */
  inspect(url: string): { readonly ok: true; readonly target: Target } | Refusal;
  /**
   * The `lookup` of connections to targets that are not `allowed`: resolves a name and returns its addresses if all are
   * public. Fails with {@link TargetRefused} or {@link ResolverUnavailable}. Node never calls it for IP addresses.
   */
  lookup: LookupFunction;
};

/**
 * The reason for every refused host name, whether it has no address or one that is not public: two reasons would tell which
 * names exist in the operator's network.
 */
const NOT_PUBLIC = "has a host name that does not resolve to public addresses";

const refused = (reason: string): Refusal => ({ ok: false, reason });

/** Resolves through DNS alone: without the hosts file, and without the four threads of the system's resolver. */
function createResolve(): Resolve {
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES });
  return async (name) => {
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    const failed = answers.find((answer) => answer.status === "rejected" && !isNotFound(answer.reason));
    if (addresses.length === 0 && failed) {
      throw new ResolverUnavailable(`the name servers gave no answer for ${name}`);
    }
    return addresses;
  };
}

/** True when the name servers answered that the name does not exist, or has no address of this family. */
const isNotFound = (error: unknown): boolean =>
  error instanceof Error && "code" in error && /^(ENOTFOUND|ENODATA|EBADNAME)$/.test(String(error.code));

const isAllowed = (allow: readonly AllowedHost[], { hostname, protocol, port }: URL): boolean =>
  allow.some(
    (allowed) =>
      allowed.host === hostname &&
      (allowed.port === null || allowed.port === Number(port || (protocol === "https:" ? 443 : 80))),
  );

const hostWithoutBrackets = (url: URL) => url.hostname.replace(/^\[|\]$/g, "");

/** Creates a guard that allows public targets and the hosts in `allow`. Tests replace `resolve`. */
export function createTargetGuard({
  allow,
  resolve = createResolve(),
}: {
  allow: readonly AllowedHost[];
  resolve?: Resolve;
}): TargetGuard {
  function inspect(text: string): { ok: true; target: Target } | Refusal {
    if (text.length > MAX_LENGTH) return refused(`must have ${MAX_LENGTH} characters at most`);
    // The URL parser would drop them, or read a backslash as a slash.
    if (/[\s\\\p{Cc}]/u.test(text))
      return refused("must not contain spaces, backslashes or control characters");
    if (!URL.canParse(text)) return refused("must be a URL such as https://example.com/hook");
    const url = new URL(text);
    if (url.href.length > MAX_LENGTH) return refused(`must have ${MAX_LENGTH} characters at most`);
    if (url.protocol !== "https:" && url.protocol !== "http:") return refused("must begin with https://");
    if (url.username || url.password) return refused("must not contain a user name or a password");
    if (isAllowed(allow, url)) return { ok: true, target: { url, allowed: true } };
    if (url.protocol !== "https:") return refused("must begin with https://");
    if (url.port) return refused("must lead to port 443");
    return checkHost(hostWithoutBrackets(url)) ?? { ok: true, target: { url, allowed: false } };
  }

  /** Resolves a name; throws unless all its addresses are public. */
  async function publicAddresses(name: string): Promise<readonly string[]> {
    const late = () => new ResolverUnavailable(`the name servers gave no answer for ${name} in time`);
    const addresses = await within(RESOLVE_MS, resolve(name), late);
    const arePublic = addresses.every((address) => describeNonPublic(address) === undefined);
    if (addresses.length === 0 || !arePublic) throw new TargetRefused(NOT_PUBLIC);
    return addresses;
  }

  return {
    inspect,
    async check(text) {
      const inspected = inspect(text);
      if (!inspected.ok) return inspected;
      const { url, allowed } = inspected.target;
      try {
        if (!allowed && isIP(hostWithoutBrackets(url)) === 0) await publicAddresses(url.hostname);
      } catch (error) {
        if (error instanceof TargetRefused) return refused(error.message);
        throw error;
      }
      return { ok: true, url: url.href };
    },
    lookup(name, options, callback) {
      publicAddresses(name).then(
        (addresses) => {
          const all = addresses.map((address) => ({ address, family: isIP(address) }));
          const [first] = all;
          if (options.all || !first) callback(null, all);
          else callback(null, first.address, first.family);
        },
        (error: Error) => callback(error, []),
      );
    },
  };
}

/** Why webhooks must not call a host, as far as its name shows. */
function checkHost(host: string): Refusal | undefined {
  if (host === "" || host.includes("%")) return refused("must have a host");
  if (isIP(host) !== 0) {
    const description = describeNonPublic(host);
    return description ? refused(`leads to ${description}`) : undefined;
  }
  if (host.endsWith(".")) return refused("must not have a dot after its host");
  if (host === "localhost" || host.endsWith(".localhost")) return refused("leads to this machine itself");
  if (!host.includes(".")) return refused("must have a fully qualified host name");
  return undefined;
}

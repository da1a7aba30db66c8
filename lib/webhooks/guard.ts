import { Resolver } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";
import { within } from "../within.ts";
import { notPublic } from "./addresses.ts";
import type { AllowedHost } from "./allowed-hosts.ts";

/**
 * Where webhooks may lead: one rule for their creation, for tests and for deliveries. https on port 443 of a public
 * address, or a host that the operator allowed. A name is resolved anew for each connection, and what it resolves to then
 * is what is connected to: an answer that has changed since the last check helps nobody.
 */

const MAX_LENGTH = 2048;
/** A name server that takes longer is asked once more, and then counts as away, in ms. */
const DNS_TIMEOUT_MS = 2000;
const DNS_TRIES = 2;
/** No answer of a resolver, of whatever kind, is waited for longer, in ms. */
const RESOLVE_MS = 8000;

/** The addresses of a name, none when it does not exist. Rejects with {@link ResolverUnavailable} when nobody knows. */
export type Resolve = (name: string) => Promise<readonly string[]>;

/** The name servers gave no answer: whether a target is allowed is not known. */
export class ResolverUnavailable extends Error {
  override name = "ResolverUnavailable";
}

/** A target that no webhook may lead to. */
export class TargetRefused extends Error {
  override name = "TargetRefused";
}

/** A target by its address alone. `allowed`: by the operator, so that its addresses are not looked at. */
export type Target = { readonly url: URL; readonly allowed: boolean };
/** `reason` is in words for the client. */
export type Refusal = { readonly ok: false; readonly reason: string };
/** `url` is the address in its normal form. */
export type Verdict = { readonly ok: true; readonly url: string } | Refusal;

export type TargetGuard = {
  /** The whole rule. Rejects with {@link ResolverUnavailable}. */
  check(url: string): Promise<Verdict>;
  /** What the address tells without a resolver; for a literal address that is everything. */
  inspect(url: string): { readonly ok: true; readonly target: Target } | Refusal;
  /**
   * For the connections to targets that are not `allowed`: resolves a name and hands on its addresses if all of them are
   * public. Fails with {@link TargetRefused} or {@link ResolverUnavailable}. Never called for literal addresses.
   */
  lookup: LookupFunction;
};

const refused = (reason: string): Refusal => ({ ok: false, reason });

/** Only public name servers' answers: neither the hosts file nor the four threads in which the system looks names up. */
function createResolve(): Resolve {
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES });
  return async (name) => {
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    const away = answers.find((answer) => answer.status === "rejected" && !isNoName(answer.reason));
    if (addresses.length === 0 && away) {
      throw new ResolverUnavailable(`the name servers gave no answer for ${name}`);
    }
    return addresses;
  };
}

/** True when the name servers have answered that there is no such name, or that it has no address of the kind. */
const isNoName = (error: unknown): boolean =>
  error instanceof Error && "code" in error && /^(ENOTFOUND|ENODATA|EBADNAME)$/.test(String(error.code));

const isAllowed = (allow: readonly AllowedHost[], { hostname, protocol, port }: URL): boolean =>
  allow.some(
    (host) =>
      host.host === hostname &&
      (host.port === null || host.port === Number(port || (protocol === "https:" ? 443 : 80))),
  );

const plainHost = (url: URL) => url.hostname.replace(/^\[|\]$/g, "");

/** A guard that lets `allow` through beside public targets. `resolve` is replaced in tests. */
export function createTargetGuard({
  allow,
  resolve = createResolve(),
}: {
  allow: readonly AllowedHost[];
  resolve?: Resolve;
}): TargetGuard {
  function inspect(text: string): { ok: true; target: Target } | Refusal {
    if (text.length > MAX_LENGTH) return refused(`must have ${MAX_LENGTH} characters at most`);
    // The parser would leave them out, or take a backslash for a slash.
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
    return refusedHost(plainHost(url)) ?? { ok: true, target: { url, allowed: false } };
  }

  /** The addresses of a name, if all of them are public. */
  async function publicAddresses(name: string): Promise<readonly string[]> {
    const late = () => new ResolverUnavailable(`the name servers gave no answer for ${name} in time`);
    const addresses = await within(RESOLVE_MS, resolve(name), late);
    if (addresses.length === 0) throw new TargetRefused(`has a name that leads nowhere (${name})`);
    for (const address of addresses) {
      const words = notPublic(address);
      // The address itself is not told: it may be one of a network that only we see.
      if (words) throw new TargetRefused(`has a name that leads to ${words}`);
    }
    return addresses;
  }

  return {
    inspect,
    async check(text) {
      const inspected = inspect(text);
      if (!inspected.ok) return inspected;
      const { url, allowed } = inspected.target;
      try {
        if (!allowed && isIP(plainHost(url)) === 0) await publicAddresses(url.hostname);
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

/** What keeps webhooks from a host, as far as it can be told without a resolver. */
function refusedHost(host: string): Refusal | undefined {
  if (host === "" || host.includes("%")) return refused("must name a host");
  if (isIP(host) !== 0) {
    const words = notPublic(host);
    return words ? refused(`leads to ${words}`) : undefined;
  }
  if (host.endsWith(".")) return refused("must not have a dot behind its host");
  if (host === "localhost" || host.endsWith(".localhost")) return refused("leads to this machine itself");
  if (!host.includes(".")) return refused("must name a host in full, with its domain");
  return undefined;
}

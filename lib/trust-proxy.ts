/** The proxies in front of the API whose `X-Forwarded-For` is trusted, from `TRUST_PROXY`. */
import { isIPv4, isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";

export type IpAddress = ipaddr.IPv4 | ipaddr.IPv6;
type Range = [network: IpAddress, prefix: number];

/** Either `hops` proxies in a row are in front of the API, or every address in `ranges` is a proxy. */
export type TrustedProxies = { readonly hops: number } | { readonly ranges: readonly Range[] };

/** No proxy: the socket's address is the client's. */
export const NO_PROXY: TrustedProxies = { hops: 0 };

const MAX_HOPS = 16;

/** The names that Express gives to groups of ranges. */
const namedRanges: Readonly<Record<string, readonly string[]>> = {
  loopback: ["127.0.0.0/8", "::1/128"],
  linklocal: ["169.254.0.0/16", "fe80::/10"],
  uniquelocal: ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"],
};

/** The form of IPv4 clients on a server that listens on `::`; the library would parse it ten times as slowly. */
const MAPPED = /^::ffff:([\d.]+)$/i;

/** Parses an address in its full form, an IPv4-mapped IPv6 address as IPv4. Undefined for any other text. */
export function parseAddress(text: string): IpAddress | undefined {
  // The library also accepts "1" and "0x7f.1"; Node's check is stricter.
  if (isIPv4(text)) return ipaddr.IPv4.parse(text);
  if (!isIPv6(text)) return undefined;
  const mapped = MAPPED.exec(text)?.[1];
  if (mapped !== undefined && isIPv4(mapped)) return ipaddr.IPv4.parse(mapped);
  // A zone names an interface of this machine, with characters that the library may reject.
  const address = ipaddr.IPv6.parse(text.replace(/%.*$/, ""));
  return address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

function parseRange(text: string): Range | undefined {
  const address = parseAddress(text);
  if (address) return [address, address.kind() === "ipv4" ? 32 : 128];
  const network = text.slice(0, text.indexOf("/"));
  return ipaddr.isValidCIDR(text) && parseAddress(network) ? ipaddr.parseCIDR(text) : undefined;
}

/**
 * Reads a number of proxies, or a list of addresses, CIDR ranges and the names `loopback`, `linklocal` and
 * `uniquelocal`, separated by commas. Undefined when the text is neither.
 */
export function parseTrustedProxies(text: string): TrustedProxies | undefined {
  if (/^\d{1,2}$/.test(text)) return Number(text) <= MAX_HOPS ? { hops: Number(text) } : undefined;
  const ranges: Range[] = [];
  for (const part of text.split(",").map((item) => item.trim())) {
    for (const written of namedRanges[part] ?? [part]) {
      const range = parseRange(written);
      if (!range) return undefined;
      ranges.push(range);
    }
  }
  return { ranges };
}

/** Whether the peer `hop` (0 for the socket's own) is a trusted proxy, so that its `X-Forwarded-For` counts. */
export function isTrusted(proxies: TrustedProxies, address: IpAddress, hop: number): boolean {
  if ("hops" in proxies) return hop < proxies.hops;
  return proxies.ranges.some(
    ([network, prefix]) => network.kind() === address.kind() && address.match(network, prefix),
  );
}

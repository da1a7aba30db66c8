/** Whose word on a client's address counts: the proxies in front of the API, as `TRUST_PROXY` names them. */
import { isIPv4, isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";

export type IpAddress = ipaddr.IPv4 | ipaddr.IPv6;
type Range = [network: IpAddress, prefix: number];

/** So many proxies stand in a row before the API; or every address in these ranges is a proxy. */
export type TrustedProxies = { readonly hops: number } | { readonly ranges: readonly Range[] };

/** No proxy at all: the socket's address is the client's. */
export const NO_PROXY: TrustedProxies = { hops: 0 };

const MAX_HOPS = 16;

/** The names that Express gives to groups of ranges. */
const namedRanges: Readonly<Record<string, readonly string[]>> = {
  loopback: ["127.0.0.0/8", "::1/128"],
  linklocal: ["169.254.0.0/16", "fe80::/10"],
  uniquelocal: ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"],
};

/** As a server that listens on `::` sees its IPv4 clients; parsed like any other it would take ten times as long. */
const MAPPED = /^::ffff:([\d.]+)$/i;

/** An address as it is written in full; an IPv4 address inside an IPv6 one is the IPv4 address. Undefined for all else. */
export function parseAddress(text: string): IpAddress | undefined {
  // The library also reads "1" and "0x7f.1" as addresses, which nobody writes in earnest; Node's check is stricter.
  if (isIPv4(text)) return ipaddr.IPv4.parse(text);
  if (!isIPv6(text)) return undefined;
  const mapped = MAPPED.exec(text)?.[1];
  if (mapped !== undefined && isIPv4(mapped)) return ipaddr.IPv4.parse(mapped);
  // A zone names an interface of this machine, in words that the library may not know.
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

/** Whether the peer `hop` (0 for the socket's own) is a proxy of ours, so that what it says of its client is true. */
export function isTrusted(proxies: TrustedProxies, address: IpAddress, hop: number): boolean {
  if ("hops" in proxies) return hop < proxies.hops;
  return proxies.ranges.some(
    ([network, prefix]) => network.kind() === address.kind() && address.match(network, prefix),
  );
}

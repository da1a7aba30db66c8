import { isIPv4, isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";

/** Distinguishes public IP addresses from others, which webhooks must not reach. An unknown range counts as not public. */

/** Ranges with a more precise description than the library's; the first match wins. */
const PRECISE_RANGES: readonly [range: string, description: string][] = [
  ["169.254.169.254/32", "the metadata service of a cloud"],
  ["100.100.100.200/32", "the metadata service of a cloud"],
  ["168.63.129.16/32", "the metadata service of a cloud"],
  ["fd00:ec2::254/128", "the metadata service of a cloud"],
  ["192.0.2.0/24", "an address for documentation"],
  ["198.51.100.0/24", "an address for documentation"],
  ["203.0.113.0/24", "an address for documentation"],
  ["2001:db8::/32", "an address for documentation"],
  ["3fff::/20", "an address for documentation"],
  ["198.18.0.0/15", "an address for benchmarks"],
  ["192.88.99.0/24", "an address of a 6to4 relay"],
];

/** Descriptions of the library's ranges that are not public. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  unspecified: "an address of this network",
  broadcast: "the broadcast address",
  multicast: "a multicast address",
  linkLocal: "a link-local address",
  loopback: "this machine itself",
  carrierGradeNat: "an address behind a carrier's NAT",
  private: "a private address",
  uniqueLocal: "a private address",
  reserved: "a reserved address",
  as112: "an address of the AS112 service",
  as112v6: "an address of the AS112 service",
  amt: "an address of a multicast relay",
  ipv4Mapped: "an IPv4 address inside an IPv6 one",
  rfc6145: "an IPv4 address inside an IPv6 one",
  rfc6052: "an IPv4 address behind a NAT64",
  "6to4": "an IPv4 address behind a 6to4 relay",
  teredo: "an IPv4 address behind a Teredo relay",
  deprecatedSiteLocal: "a site-local address",
  discard: "an address for discarding",
  benchmarking: "an address for benchmarks",
  deprecatedOrchid: "an identifier (ORCHID)",
  orchid2: "an identifier (ORCHID)",
  segmentRouting: "an address for segment routing",
};

const preciseRanges = PRECISE_RANGES.map(([range, description]) => ({
  range: ipaddr.parseCIDR(range),
  description,
}));
const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3");
const ipv4Compatible = ipaddr.IPv6.parseCIDR("::/96");

/**
 * Describes an address that is not public, such as "a private address"; undefined for a public one. IPv6 addresses come
 * without brackets.
 */
export function describeNonPublic(address: string): string | undefined {
  // The library also accepts "1" and "0x7f.1" as addresses; Node's check is stricter.
  if (!isIPv4(address) && !isIPv6(address)) return "an invalid address";
  // A zone identifies a network interface of this machine.
  if (address.includes("%")) return "an address of this machine's own networks";
  const ip = ipaddr.parse(address);
  for (const { range, description } of preciseRanges) {
    if (range[0].kind() === ip.kind() && ip.match(range)) return description;
  }
  const range = ip.range();
  if (range !== "unicast") return DESCRIPTIONS[range] ?? "a reserved address";
  if (ip instanceof ipaddr.IPv6 && !ip.match(globalUnicast)) {
    return ip.match(ipv4Compatible) ? DESCRIPTIONS.ipv4Mapped : "an unallocated address";
  }
  return undefined;
}

/** Request headers with which a client pretends to have another address. */

/** Headers that some proxies trust and this service ignores. */
export const forgedHeaders: readonly Readonly<Record<string, string>>[] = [
  { forwarded: "for=203.0.113.77" },
  { "x-real-ip": "203.0.113.77" },
  { "cf-connecting-ip": "203.0.113.77", "true-client-ip": "203.0.113.77" },
  { "x-client-ip": "203.0.113.77", "x-cluster-client-ip": "203.0.113.77" },
];

/** Values of `X-Forwarded-For` that all mean this IPv4 client: with forged entries before it, or other spellings of it. */
export const forgedForwardedFor = (ipv4: string): string[] => [
  ipv4,
  `203.0.113.5, ${ipv4}`,
  `${ipv4}, 203.0.113.5, ${ipv4}`,
  `::ffff:${ipv4}`,
  `${ipv4}:4711`,
  ` ${ipv4} `,
];

/** Values of `X-Forwarded-For` with other addresses of the same IPv6 /64; `prefix` is its first four groups. */
export const sameNetworkForwardedFor = (prefix: string): string[] => [
  `${prefix}::2`,
  `${prefix}:ffff:ffff:ffff:ffff`,
  `[${prefix}::3]:99`,
  `203.0.113.5, ${prefix.toUpperCase()}::4`,
];

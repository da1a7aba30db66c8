/** What clients write into a request to be taken for others. */

/** Headers that some proxies believe, and this service never does. */
export const disguises: readonly Readonly<Record<string, string>>[] = [
  { forwarded: "for=203.0.113.77" },
  { "x-real-ip": "203.0.113.77" },
  { "cf-connecting-ip": "203.0.113.77", "true-client-ip": "203.0.113.77" },
  { "x-client-ip": "203.0.113.77", "x-cluster-client-ip": "203.0.113.77" },
];

/** Ways to write an address into `X-Forwarded-For` ahead of, or as, what the proxy writes. */
export const guisesOf = (ipv4: string): string[] => [
  ipv4,
  `203.0.113.5, ${ipv4}`,
  `${ipv4}, 203.0.113.5, ${ipv4}`,
  `::ffff:${ipv4}`,
  `${ipv4}:4711`,
  ` ${ipv4} `,
];

/** Ways to be somebody else in the same network; `prefix` is its first four groups. */
export const neighboursIn = (prefix: string): string[] => [
  `${prefix}::2`,
  `${prefix}:ffff:ffff:ffff:ffff`,
  `[${prefix}::3]:99`,
  `203.0.113.5, ${prefix.toUpperCase()}::4`,
];

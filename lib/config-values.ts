/** Kinds of environment variables: how each is written, and what it must be. */
import { parseEther, parseGwei } from "viem";
import { z } from "zod";
import { parseTrustedProxies } from "./trust-proxy.ts";
import { parseAllowedHosts } from "./webhooks/allowed-hosts.ts";

export const url = (...protocols: string[]) =>
  z
    .string()
    .refine(
      (text) => URL.canParse(text) && protocols.includes(new URL(text).protocol),
      `must be a URL that begins with ${protocols.map((p) => `${p}//`).join(" or ")}`,
    );

export const integer = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((n) => n >= min && n <= max, `must be a whole number from ${min} to ${max}`);

export const port = integer(1, 65535);
export const schemaName = z
  .string()
  .regex(/^[a-z_][a-z0-9_]{0,44}$/, "must be a lowercase Postgres schema name, 45 characters at most");
export const gwei = z
  .string()
  .regex(/^\d{1,9}(\.\d{1,9})?$/, "must be a number of gwei, 9 decimals at most")
  .transform((text) => parseGwei(text));

export const ether = z
  .string()
  .regex(/^\d{1,9}(\.\d{1,18})?$/, "must be an amount of ETH, 18 decimals at most")
  .transform((text) => parseEther(text));

export const privateKey = z.custom<`0x${string}`>(
  (key) => typeof key === "string" && /^0x[0-9a-fA-F]{64}$/.test(key),
  {
    error: "must be a private key (0x and 64 hex digits)",
  },
);

export const privateKeys = z
  .string()
  .transform((text) => text.split(",").map((key) => key.trim()))
  .pipe(
    z.array(
      z.custom<`0x${string}`>((key) => typeof key === "string" && /^0x[0-9a-fA-F]{64}$/.test(key), {
        error: "must be private keys (0x and 64 hex digits), separated by commas",
      }),
    ),
  )
  .refine(
    (keys) => new Set(keys.map((k) => k.toLowerCase())).size === keys.length,
    "must not contain a key twice",
  );

export const trustedProxies = z.string().transform((text, context) => {
  const proxies = parseTrustedProxies(text);
  if (proxies) return proxies;
  context.addIssue(
    "must be a number of proxies up to 16, or addresses, CIDR ranges, loopback, linklocal or uniquelocal, separated by commas",
  );
  return z.NEVER;
});

export const allowedHosts = z.string().transform((text, context) => {
  const hosts = parseAllowedHosts(text);
  if (hosts) return hosts;
  context.addIssue(
    "must be hosts, each with a port or without (host, host:port, [ipv6]:port), separated by commas",
  );
  return z.NEVER;
});

/** Requests in a limit's window. A limit can be raised to a billion, but not switched off. */
export const rateLimit = integer(1, 1_000_000_000);

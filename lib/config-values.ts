/** Kinds of environment variables: how each is written, and what it must be. */
import { createPublicKey } from "node:crypto";
import { parseEther, parseGwei } from "viem";
import { z } from "zod";
import { parseTrustedProxies } from "./trust-proxy.ts";
import { parseAllowedHosts } from "./webhooks/allowed-hosts.ts";

/** Drivers decode a URL's login, host and path, and throw at a "%" that begins no escape, or at bytes that are no UTF-8. */
function isDecodable(text: string): boolean {
  if (!URL.canParse(text)) return true;
  const { username, password, hostname, pathname } = new URL(text);
  try {
    decodeURIComponent(`${username}:${password}@${hostname}${pathname}`);
    return true;
  } catch {
    return false;
  }
}

export const url = (...protocols: string[]) =>
  z
    .string()
    .refine(
      (text) => URL.canParse(text) && protocols.includes(new URL(text).protocol),
      `must be a URL that begins with ${protocols.map((p) => `${p}//`).join(" or ")}`,
    )
    .refine(
      isDecodable,
      "must be a URL with %25 for each % of its login, host and path, and escapes of UTF-8 only",
    );

/** A database on one server: of several hosts, one pool would reach another than the next. */
export const databaseUrl = z
  .string()
  .refine(
    (text) => !/,|%2c/i.test(/^[^/]*\/\/(?:[^/?#]*@)?([^/?#]*)/.exec(text)?.[1] ?? ""),
    "must name one host",
  )
  .pipe(url("postgres:", "postgresql:"));

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

type Key = `0x${string}`;

const isPrivateKey = (text: unknown): text is Key =>
  typeof text === "string" && /^0x[0-9a-fA-F]{64}$/.test(text);

/** An uncompressed public key without its prefix 04, as Web3Signer lists its keys. It must be a point of secp256k1. */
function isPublicKey(text: unknown): text is Key {
  if (typeof text !== "string" || !/^0x[0-9a-fA-F]{128}$/.test(text)) return false;
  const [x, y] = [text.slice(2, 66), text.slice(66)].map((half) =>
    Buffer.from(half, "hex").toString("base64url"),
  );
  try {
    createPublicKey({ format: "jwk", key: { kty: "EC", crv: "secp256k1", x, y } });
    return true;
  } catch {
    return false;
  }
}

const keyOf = (isKey: (text: unknown) => text is Key, error: string) => z.custom<Key>(isKey, { error });

const listOf = (isKey: (text: unknown) => text is Key, error: string) =>
  z
    .string()
    .transform((text) => text.split(",").map((key) => key.trim()))
    .pipe(z.array(z.custom<Key>(isKey, { error })))
    .refine(
      (keys) => new Set(keys.map((k) => k.toLowerCase())).size === keys.length,
      "must not contain a key twice",
    );

export const privateKey = keyOf(isPrivateKey, "must be a private key (0x and 64 hex digits)");
export const privateKeys = listOf(
  isPrivateKey,
  "must be private keys (0x and 64 hex digits), separated by commas",
);
export const publicKey = keyOf(
  isPublicKey,
  "must be an uncompressed public key of secp256k1 (0x and 128 hex digits)",
);
export const publicKeys = listOf(
  isPublicKey,
  "must be uncompressed public keys of secp256k1 (0x and 128 hex digits), separated by commas",
);

/** Paths are added to it. */
export const baseUrl = url("http:", "https:").refine((text) => {
  if (!URL.canParse(text)) return true;
  const { username, password, search, hash } = new URL(text);
  return `${username}${password}${search}${hash}` === "";
}, "must be a URL without a login, a query or a fragment");

/** 32 bytes for AES-256. */
export const secretsKey = z
  .string()
  .regex(/^[0-9a-fA-F]{64}$/, "must be 64 hex digits (32 bytes)")
  .toLowerCase();

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

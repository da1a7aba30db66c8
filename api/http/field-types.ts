/** The shared types of the API specification: what a request may hold, and what an answer holds. */
import { z } from "@hono/zod-openapi";
import { getAddress, type Hex } from "viem";

/** The largest integer that a contract takes. */
export const MAX_UINT256 = 2n ** 256n - 1n;
/** Digits of {@link MAX_UINT256}: a longer text is refused before anything computes with it. */
const MAX_DIGITS = 78;

const BYTES32 = /^0x[0-9a-fA-F]{64}$/;
const DIGITS = /^\d+$/;

const lowercaseHex = (text: string): Hex => `0x${text.slice(2).toLowerCase()}`;

/** In answers: 32 bytes, lowercase. */
export const Bytes32 = z.string().regex(BYTES32, "must be 0x and 64 hex digits").openapi("Bytes32", {
  description: "32 bytes as hex.",
  example: "0xe87625ef7415a58c92f2639b16d176521429aac002386dddf1e47e419dfeaddd",
});

/** In answers: a non-negative integer of any size. */
export const DecimalString = z
  .string()
  .regex(DIGITS, "must be a non-negative integer in decimal digits")
  .openapi("DecimalString", {
    description: "A non-negative integer in decimal digits.",
    example: "100000000",
  });

/** In answers: an address with its checksum. */
export const Address = z
  .string()
  .regex(/^0x[a-fA-F0-9]{40}$/, "must be 0x and 40 hex digits")
  .openapi("Address", {
    description: "An address. Accepted in any case; answered with its checksum.",
    example: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
  });

export const UnixSeconds = z
  .string()
  .regex(/^\d+$/, "must be Unix seconds in decimal digits")
  .openapi("UnixSeconds", {
    description: "Unix seconds in decimal digits.",
    example: "1767225600",
  });

/**
 * The nullable forms stand for themselves: OpenAPI 3.0 cannot make a reference nullable, for the schema that it refers
 * to still refuses null.
 */
export const nullableBytes32 = (description: string) =>
  z.string().regex(BYTES32).nullable().openapi({ description });
export const nullableDecimal = (description: string, example: string | null = null) =>
  z.string().regex(DIGITS).nullable().openapi({ description, example });

/** A time of the service's own tables. */
export const Timestamp = z.iso.datetime().openapi("Timestamp", {
  description: "ISO 8601, UTC.",
  example: "2026-01-01T00:00:00.000Z",
});

/** As `Timestamp`; it stands for itself like the other nullable forms. */
export const nullableTimestamp = (description: string) =>
  z.iso.datetime().nullable().openapi({ description, example: "2026-01-01T00:00:00.000Z" });

/** In requests: 32 bytes in any case, parsed to lowercase. */
export const bytes32Input = Bytes32.transform(lowercaseHex);

/** In requests: an unsigned integer that a contract can take, parsed to `bigint`. */
export const uint256Input = z
  .string()
  .regex(DIGITS, "must be a non-negative integer in decimal digits")
  .max(MAX_DIGITS, `must have ${MAX_DIGITS} digits at most`)
  .transform(BigInt)
  .refine((value) => value <= MAX_UINT256, "must be below 2^256");

/** In requests: a time, parsed to `bigint`. */
export const unixSecondsInput = z
  .string()
  .regex(/^\d{1,15}$/, "must be Unix seconds in decimal digits")
  .transform(BigInt)
  .openapi({ example: "1767225600" });

/** Bytes of the longest signature: a contract wallet's may hold many owners', and the call that deploys it. */
const MAX_SIGNATURE_BYTES = 8192;

/** In requests: a signature, of a plain account (65 bytes) or for a contract to check. */
export const signatureInput = z
  .string()
  .regex(/^0x([0-9a-fA-F]{2})*$/, "must be 0x and hex digits, two for each byte")
  .max(2 + 2 * MAX_SIGNATURE_BYTES, `must have ${MAX_SIGNATURE_BYTES} bytes at most`)
  .transform(lowercaseHex)
  .openapi({ example: `0x${"00".repeat(65)}` });

/** In requests: an address in any case, whatever its checksum; parsed to the checksummed form. */
export const addressInput = Address.transform((text) => getAddress(lowercaseHex(text)));

/**
 * In queries: a whole number from `min` to `max`; the default where it is left out. Digits only: `z.coerce` would take
 * "1e1" and " 5" too.
 */
export const integerInput = (min: number, max: number, fallback: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be a whole number from ${min} to ${max}`)
    .default(fallback)
    .openapi({ type: "integer", minimum: min, maximum: max, default: fallback });

/** The named types of the document, to be registered ahead of the routes that describe them in their own words. */
export const sharedTypes = { Bytes32, DecimalString, Address, UnixSeconds, Timestamp };

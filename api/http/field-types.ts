/** The API specification's shared types for fields of requests and responses. */
import { z } from "@hono/zod-openapi";
import { getAddress, type Hex } from "viem";

/** The largest integer that a contract takes. */
export const MAX_UINT256 = 2n ** 256n - 1n;
/** Digits of {@link MAX_UINT256}: a longer text is refused before it is parsed. */
const MAX_DIGITS = 78;

const BYTES32 = /^0x[0-9a-fA-F]{64}$/;
const DIGITS = /^\d+$/;

const lowercaseHex = (text: string): Hex => `0x${text.slice(2).toLowerCase()}`;

/** In responses: 32 bytes, lowercase. */
export const Bytes32 = z.string().regex(BYTES32, "must be 0x and 64 hex digits").openapi("Bytes32", {
  description: "32 bytes as hex.",
  example: "0xe87625ef7415a58c92f2639b16d176521429aac002386dddf1e47e419dfeaddd",
});

/** `Bytes32` of other kinds than a product id, with an example of that kind. */
export const TxHash = Bytes32.openapi({
  description: "Hash of the transaction.",
  example: "0x11d4e91109555c451561651092cd0c0c91aa5c305201bfde1f040f1273048465",
});
export const BlockHash = Bytes32.openapi({
  description: "Hash of the block.",
  example: "0x8a1e1f4b3f9c2d6e7b50a1c2d3e4f5061728394a5b6c7d8e9fa0b1c2d3e4f506",
});
export const CoveredAsset = Bytes32.openapi({
  description: "The covered asset's symbol as bytes32.",
  example: "0x4254430000000000000000000000000000000000000000000000000000000000",
});

/** In responses: a non-negative integer of any size. */
export const DecimalString = z
  .string()
  .regex(DIGITS, "must be a non-negative integer in decimal digits")
  .openapi("DecimalString", {
    description: "A non-negative integer in decimal digits.",
    example: "100000000",
  });

/** In responses: an address with its checksum. */
export const Address = z
  .string()
  .regex(/^0x[a-fA-F0-9]{40}$/, "must be 0x and 40 hex digits")
  .openapi("Address", {
    description: "An address. Accepted in any case, returned with its checksum.",
    example: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
  });

export const UnixSeconds = z
  .string()
  .regex(/^\d+$/, "must be Unix seconds in decimal digits")
  .openapi("UnixSeconds", {
    description: "Unix seconds in decimal digits.",
    example: "1767225600",
  });

/**
 * Nullable forms are schemas of their own: OpenAPI 3.0 cannot make a reference nullable.
 */
export const nullableBytes32 = (description: string, example: string | null = null) =>
  z.string().regex(BYTES32).nullable().openapi({ description, example });
export const nullableDecimal = (description: string, example: string | null = null) =>
  z.string().regex(DIGITS).nullable().openapi({ description, example });

export const nullableAddress = (description: string, example: string | null = null) =>
  z
    .string()
    .regex(/^0x[a-fA-F0-9]{40}$/)
    .nullable()
    .openapi({ description, example });

/** A time in the service's own tables. */
export const Timestamp = z.iso.datetime().openapi("Timestamp", {
  description: "ISO 8601, UTC.",
  example: "2026-01-01T00:00:00.000Z",
});

/** The value of a `nullableDecimal`. */
export const decimalOrNull = (value: bigint | null): string | null => (value === null ? null : String(value));

/** A block's time (Unix seconds) as a `Timestamp`. */
export const isoTime = (seconds: bigint): string => new Date(Number(seconds) * 1000).toISOString();

/** The nullable form of `Timestamp`. */
export const nullableTimestamp = (description: string, example: string | null = null) =>
  z.iso.datetime().nullable().openapi({ description, example });

/** In requests: 32 bytes in any case, parsed to lowercase. */
export const bytes32Input = Bytes32.transform(lowercaseHex);

/** In requests: a uint256, parsed to `bigint`. The format tells the bound that digits alone cannot. */
export const uint256Input = z
  .string()
  .regex(DIGITS, "must be a non-negative integer in decimal digits")
  .max(MAX_DIGITS, `must have ${MAX_DIGITS} digits at most`)
  .transform(BigInt)
  .refine((value) => value <= MAX_UINT256, "must be below 2^256")
  .openapi({ format: "uint256" });

/** In requests: Unix seconds up to the year 5138, parsed to `bigint`. In milliseconds the times of every chain have more digits. */
export const unixSecondsInput = z
  .string()
  .regex(/^\d{1,11}$/, "must be Unix seconds in 11 decimal digits at most, not milliseconds")
  .transform(BigInt)
  .openapi({ example: "1767225600" });

/** Longest signature, in bytes: a contract wallet's may contain many owners' signatures and its deployment. */
const MAX_SIGNATURE_BYTES = 8192;

/** Longest signature that a relayer sends, in bytes: 60 owners' of a contract wallet. */
const MAX_SENT_SIGNATURE_BYTES = 4096;

/** For examples: the seeded wallet's signature of its onboarding message at 1767225600. */
export const EXAMPLE_SIGNATURE =
  "0xd90a9c0e5f8fb8ef0a7660156b34c3063949929aad192d25b8c8b2a22a05b581486eb4c3ee687a3017944beab9c602dcfe6d16e841f3bd5e76b29f3efcbc28f51c";

function signatureUpTo(bytes: number) {
  return z
    .string()
    .regex(/^0x([0-9a-fA-F]{2})*$/, "must be 0x and hex digits, two for each byte")
    .max(2 + 2 * bytes, `must have ${bytes} bytes at most`)
    .transform(lowercaseHex)
    .openapi({ example: EXAMPLE_SIGNATURE });
}

/** In requests: the signature of a plain account (65 bytes, or 64 by EIP-2098) or of a contract wallet. */
export const signatureInput = signatureUpTo(MAX_SIGNATURE_BYTES);

/** The same for a signature that goes to the chain, where its bytes cost gas. */
export const sentSignatureInput = signatureUpTo(MAX_SENT_SIGNATURE_BYTES);

/** In requests: an address in any case, with any checksum; parsed to the checksummed form. */
export const addressInput = Address.transform((text) => getAddress(lowercaseHex(text)));

/** In addresses: a UUID in any case. */
export const uuidInput = z
  .string()
  .regex(/^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/, "must be a UUID");

/** In queries: a whole number from `min` to `max`. Digits only: `z.coerce` would accept "1e1" and " 5". */
const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be a whole number from ${min} to ${max}`);

/** In queries: a whole number from `min` to `max`, with a default. */
export const integerInput = (min: number, max: number, fallback: number) =>
  wholeNumber(min, max)
    .default(fallback)
    .openapi({ type: "integer", minimum: min, maximum: max, default: fallback });

/** In queries: a whole number from `min` to `max`, which may be left out. */
export const optionalInteger = (min: number, max: number) =>
  wholeNumber(min, max).optional().openapi({ type: "integer", minimum: min, maximum: max });

/** In paths: the id of a row of the service. */
export const rowIdInput = z
  .string()
  .regex(/^\d{1,15}$/, "must be a whole number")
  .transform(Number)
  .openapi({ type: "integer", minimum: 0, maximum: 999_999_999_999_999, example: 1 });

/** The document's named types, to be registered before the routes that describe them differently. */
export const sharedTypes = { Bytes32, DecimalString, Address, UnixSeconds, Timestamp };

import { type Hex, parseSignature, serializeCompactSignature, signatureToCompactSignature } from "viem";

/** A plain account's signature in the compact form of EIP-2098, 64 bytes. */
export const compact = (signature: Hex): Hex =>
  serializeCompactSignature(signatureToCompactSignature(parseSignature(signature)));

/** Signatures of plain accounts, in their two forms. */
import { compactSignatureToSignature, type Hex, parseCompactSignature, serializeSignature, size } from "viem";

/** Length of a plain account's signature, in bytes. */
export const ACCOUNT_SIGNATURE = 65;
const COMPACT_SIGNATURE = 64;

/**
 * A compact signature (EIP-2098, 64 bytes) in the form of 65 bytes; undefined for any other. A contract wallet may have signatures
 * of 64 bytes that are none of these, so try both forms.
 */
export function expandSignature(signature: Hex): Hex | undefined {
  if (size(signature) !== COMPACT_SIGNATURE) return undefined;
  try {
    return serializeSignature(compactSignatureToSignature(parseCompactSignature(signature)));
  } catch {
    return undefined; // its r or s is out of range
  }
}

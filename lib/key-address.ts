import { type Address, type Hex, isHex, size } from "viem";
import { privateKeyToAddress, publicKeyToAddress } from "viem/accounts";

/** The prefix of an uncompressed public key. Web3Signer leaves it out, and so do our variables. */
const UNCOMPRESSED = "04";

/** A public key as viem writes it, from one without its prefix. */
export const prefixedKey = (publicKey: Hex): Hex => `0x${UNCOMPRESSED}${publicKey.slice(2).toLowerCase()}`;

export const publicKeyAddress = (publicKey: Hex): Address => publicKeyToAddress(prefixedKey(publicKey));

/** The wallet of a private key (32 bytes) or a public one (64 bytes); undefined for what is neither. */
export function keyAddress(key: string): Address | undefined {
  if (!isHex(key)) return undefined;
  try {
    if (size(key) === 32) return privateKeyToAddress(key);
    return size(key) === 64 ? publicKeyAddress(key) : undefined;
  } catch {
    return undefined;
  }
}

/** Signs and recovers with libsecp256k1 where its binary is installed, for a third of viem's CPU. */
import { bytesToHex, type Hex, hexToBytes, keccak256, recoverPublicKey, serializeTransaction } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { Account } from "./account.ts";

/** npm installs the binary for Linux on x64 and macOS on arm64; without one the import rejects. */
const libsecp256k1 = await import("secp256k1/bindings.js").then(
  (module) => module.default,
  () => undefined,
);

export type Signature = { readonly r: Hex; readonly s: Hex; readonly yParity: number };

/** The account of a private key that signs in native code; undefined where there is none. */
export function nativeAccount(privateKey: Hex): Account | undefined {
  if (!libsecp256k1) return undefined;
  const key = hexToBytes(privateKey);
  return {
    address: privateKeyToAccount(privateKey).address,
    async signTransaction(transaction) {
      const hash = keccak256(serializeTransaction(transaction), "bytes");
      const { signature, recid } = libsecp256k1.ecdsaSign(hash, key);
      const r = bytesToHex(signature.subarray(0, 32));
      const s = bytesToHex(signature.subarray(32));
      return serializeTransaction(transaction, { r, s, yParity: recid });
    },
  };
}

/** The public key, with its prefix 04, that made a signature. Rejects for a signature that no key makes. */
export async function publicKeyOf(hash: Hex, { r, s, yParity }: Signature): Promise<Hex> {
  if (!libsecp256k1) return recoverPublicKey({ hash, signature: { r, s, yParity } });
  const signature = Buffer.concat([hexToBytes(r), hexToBytes(s)]);
  return bytesToHex(libsecp256k1.ecdsaRecover(signature, yParity, hexToBytes(hash), false));
}

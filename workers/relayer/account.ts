/** Signs with libsecp256k1 where its binary is installed, otherwise with viem: the same bytes, for three times the CPU. */
import {
  type Address,
  bytesToHex,
  type Hex,
  hexToBytes,
  keccak256,
  serializeTransaction,
  type TransactionSerializableEIP1559,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";

/** npm installs the binary for Linux on x64 and macOS on arm64; without one the import rejects. */
const libsecp256k1 = await import("secp256k1/bindings.js").then(
  (module) => module.default,
  () => undefined,
);

export type Account = {
  readonly address: Address;
  readonly signTransaction: (transaction: TransactionSerializableEIP1559) => Promise<Hex>;
};

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

export const openAccount = (privateKey: Hex): Account =>
  nativeAccount(privateKey) ?? privateKeyToAccount(privateKey);

declare module "secp256k1/bindings.js" {
  const libsecp256k1: {
    /** Signs a hash of 32 bytes with a nonce by RFC 6979 and a low `s`; `signature` is `r` and `s`, of 32 bytes each. */
    ecdsaSign(hash: Uint8Array, privateKey: Uint8Array): { signature: Uint8Array; recid: number };
    /** The public key that made a signature, 65 bytes where it is not `compressed`. Throws for a signature that nobody made. */
    ecdsaRecover(signature: Uint8Array, recid: number, hash: Uint8Array, compressed: boolean): Uint8Array;
  };
  export default libsecp256k1;
}

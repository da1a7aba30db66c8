import {
  type Address,
  concat,
  domainSeparator,
  type Hex,
  hashStruct,
  serializeSignature,
  type TypedDataDomain,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { publicKeyAddress } from "../../lib/key-address.ts";
import { askSigner, type Key } from "../relayer/signer.ts";

/** The typed data that contracts on the live chain check. */
export const priceProofTypes = {
  PriceProof: [
    { name: "price", type: "int256" },
    { name: "asset", type: "bytes32" },
    { name: "verifiedAt", type: "uint256" },
  ],
} as const;
const primaryType = "PriceProof";
/** What EIP-712 puts before the hashes of domain and message. */
const TYPED_DATA = "0x1901";

/** `verifiedAt` is in Unix seconds. */
export type PriceMessage = { readonly price: bigint; readonly asset: Hex; readonly verifiedAt: bigint };

export type PriceSigner = {
  readonly address: Address;
  /** The EIP-712 signature of a price. Rejects with `SignerFault` when the signer that has the key did not sign. */
  readonly sign: (domain: TypedDataDomain, message: PriceMessage) => Promise<Hex>;
};

/** Signs prices with a key in the environment, or lets the signer sign that has the key. */
export function priceSigner(key: Key): PriceSigner {
  if ("privateKey" in key) {
    const account = privateKeyToAccount(key.privateKey);
    return {
      address: account.address,
      sign: (domain, message) =>
        account.signTypedData({ domain, types: priceProofTypes, primaryType, message }),
    };
  }
  return {
    address: publicKeyAddress(key.publicKey),
    async sign(domain, data) {
      const message = hashStruct({ types: priceProofTypes, primaryType, data });
      // The signer hashes it: the hash is that of the typed data.
      const preimage = concat([TYPED_DATA, domainSeparator({ domain }), message]);
      return serializeSignature(await askSigner(key, preimage));
    },
  };
}

import type { Address, Hex, TransactionSerializableEIP1559 } from "viem";
import { privateKeyToAccount, privateKeyToAddress } from "viem/accounts";
import { publicKeyAddress } from "../../lib/key-address.ts";
import type { Logger } from "../../lib/log.ts";
import { signerAccount } from "./signer/account.ts";
import type { SignerKey } from "./signer/ask.ts";

/** A wallet's key: in the environment, or with the signer. */
export type Key = { readonly privateKey: Hex } | SignerKey;

export type Account = {
  readonly address: Address;
  /** Rejects with `SignerFault` when the signer that has the key did not sign. */
  readonly signTransaction: (transaction: TransactionSerializableEIP1559) => Promise<Hex>;
  /** Whether it may be given nonces: the signer that has the key signed when it was last asked. Without it, always. */
  readonly canSign?: () => boolean;
};

export const addressOf = (key: Key): Address =>
  "privateKey" in key ? privateKeyToAddress(key.privateKey) : publicKeyAddress(key.publicKey);

export function openAccount(key: Key, log: Logger): Account {
  if (!("privateKey" in key)) return signerAccount(key, log);
  return privateKeyToAccount(key.privateKey);
}

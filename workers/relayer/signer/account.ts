import { type Hex, serializeTransaction, stringToHex } from "viem";
import { publicKeyAddress } from "../../../lib/key-address.ts";
import { errorText, type Logger } from "../../../lib/log.ts";
import type { Account } from "../account.ts";
import { askSigner, type Signature, type SignerKey } from "./ask.ts";

/** No transaction: who has its signature has nothing. */
export const TRIAL: Hex = stringToHex("Does the signer sign for this wallet?");
/** How often a signer that did not sign is tried, in ms. */
const TRIAL_MS = 1000;

/**
 * The account of a key that a signer has. It can sign from the first signature on, until the signer fails to give one: then it is
 * tried with something that is no transaction, so that no nonce is given out for which there might be no signature.
 */
export function signerAccount(key: SignerKey, log: Logger): Account {
  const address = publicKeyAddress(key.publicKey);
  let state: "untried" | "signs" | "fails" = "untried";
  let nextTrial = 0;

  async function ask(data: Hex): Promise<Signature> {
    try {
      const signature = await askSigner(key, data);
      if (state !== "signs") log.info({ wallet: address }, "the signer signs for a wallet");
      state = "signs";
      return signature;
    } catch (error) {
      if (state !== "fails") {
        const advice = "the signer does not sign for a wallet: it gets no new nonces until the signer does";
        log.error({ wallet: address, err: errorText(error) }, advice);
      }
      state = "fails";
      throw error;
    }
  }

  function tryOut(): void {
    if (performance.now() < nextTrial) return;
    nextTrial = performance.now() + TRIAL_MS;
    ask(TRIAL).catch(() => {}); // logged
  }

  tryOut();
  return {
    address,
    async signTransaction(transaction) {
      return serializeTransaction(transaction, await ask(serializeTransaction(transaction)));
    },
    canSign() {
      if (state !== "signs") tryOut();
      return state === "signs";
    },
  };
}

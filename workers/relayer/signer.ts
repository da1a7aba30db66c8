import {
  type Address,
  type Hex,
  keccak256,
  recoverPublicKey,
  serializeTransaction,
  slice,
  stringToHex,
  type TransactionSerializableEIP1559,
} from "viem";
import { privateKeyToAccount, privateKeyToAddress } from "viem/accounts";
import { prefixedKey, publicKeyAddress } from "../../lib/key-address.ts";
import { errorText, type Logger } from "../../lib/log.ts";
import type { Call } from "../ledger/assign-nonces.ts";
import type { Signed } from "../ledger/transactions.ts";
import type { Fees } from "./fees.ts";
import type { Wallet } from "./wallets.ts";

/** A key that the signer has. */
type SignerKey = {
  /** Uncompressed, without its prefix 04: 64 bytes. The signer knows the key by it. */
  readonly publicKey: Hex;
  /** Of the signer, without a path of its API. */
  readonly signerUrl: string;
};

/** A wallet's key: in the environment, or with the signer. */
export type Key = { readonly privateKey: Hex } | SignerKey;

export type Account = {
  readonly address: Address;
  /** Rejects with `SignerFault` when the signer that has the key did not sign. */
  readonly signTransaction: (transaction: TransactionSerializableEIP1559) => Promise<Hex>;
  /** Whether it may be given nonces: the signer that has the key signed when it was last asked. Without it, always. */
  readonly canSign?: () => boolean;
};

// Asks a signer with Web3Signer's API for a signature, and believes nothing that it says.

export type Signature = { readonly r: Hex; readonly s: Hex; readonly yParity: number };

/** How long a signature may take, in ms: it must be stored before the recovery signs its nonce (`SIGN_AFTER`). */
const ANSWER_MS = 2000;
/** A signature has 132 characters. */
const MAX_CHARACTERS = 1000;
/** Half of secp256k1's order: of the two values of `s` that are valid, nodes accept the one up to here (EIP-2). */
const MAX_S = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

/** The signer did not sign: it is away, slow, lacks the key, or answered with something else than this key's signature. */
export class SignerFault extends Error {
  override name = "SignerFault";
}

/**
 * The signature of the keccak-256 hash of `data`, which the signer computes itself. It is the key's for certain, in the one form
 * that nodes accept. @throws SignerFault
 */
export async function askSigner(key: SignerKey, data: Hex): Promise<Signature> {
  const signature = parseSignature(await fetchSignature(key, data));
  const signedBy = await recoverPublicKey({ hash: keccak256(data), signature }).catch(() => undefined);
  if (signedBy !== prefixedKey(key.publicKey)) {
    throw new SignerFault("the signer's answer is not this key's signature of the data");
  }
  return signature;
}

async function fetchSignature({ signerUrl, publicKey }: SignerKey, data: Hex): Promise<string> {
  try {
    const response = await fetch(`${signerUrl.replace(/\/+$/, "")}/api/v1/eth1/sign/${publicKey}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ data }),
      redirect: "error",
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    if (response.ok) return await shortText(response);
    await response.body?.cancel();
    throw new SignerFault(
      response.status === 404
        ? "the signer does not have the key"
        : `the signer answered with status ${response.status}`,
    );
  } catch (cause) {
    if (cause instanceof SignerFault) throw cause;
    throw new SignerFault(`the signer does not answer: ${reasonOf(cause)}`, { cause });
  }
}

/** `fetch` hides the reason behind "fetch failed". */
const reasonOf = (fault: unknown): string =>
  errorText(fault instanceof Error && fault.cause instanceof Error ? fault.cause : fault);

async function shortText({ body }: Response): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > MAX_CHARACTERS) throw new SignerFault("the signer's answer is no signature");
  }
  return text.trim();
}

/** Reads r, s and v, which is 27 or 28; some signers write it as 0 or 1. @throws SignerFault */
function parseSignature(text: string): Signature {
  if (!/^0x[0-9a-fA-F]{130}$/.test(text)) throw new SignerFault("the signer's answer is no signature");
  const bytes: Hex = `0x${text.slice(2).toLowerCase()}`;
  const [r, s, v] = [slice(bytes, 0, 32), slice(bytes, 32, 64), Number(slice(bytes, 64))];
  const yParity = v >= 27 ? v - 27 : v;
  if (yParity > 1 || BigInt(s) > MAX_S) {
    throw new SignerFault("the signer's answer is a signature in a form that nodes refuse");
  }
  return { r, s, yParity };
}

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

export const addressOf = (key: Key): Address =>
  "privateKey" in key ? privateKeyToAddress(key.privateKey) : publicKeyAddress(key.publicKey);

export function openAccount(key: Key, log: Logger): Account {
  if (!("privateKey" in key)) return signerAccount(key, log);
  return privateKeyToAccount(key.privateKey);
}

/**
 * Signs a call for one nonce of a wallet. It sends nothing and needs neither node nor database.
 * @throws SignerFault when the wallet's signer did not sign
 */
export async function signCall(
  { account, lease }: Pick<Wallet, "account" | "lease">,
  nonce: number,
  call: Call,
  { maxFee, priorityFee }: Fees,
): Promise<Signed> {
  const bytes = await account.signTransaction({
    type: "eip1559",
    chainId: lease.chainId,
    nonce,
    to: call.to,
    data: call.data,
    value: call.value,
    gas: call.gasLimit,
    maxFeePerGas: maxFee,
    maxPriorityFeePerGas: priorityFee,
  });
  return { hash: keccak256(bytes), bytes, maxFee, priorityFee };
}

/** What was signed. What the wallet's signer did not sign is left out: it keeps its nonce, and the recovery asks again. */
export async function whatIsSigned<T>(signing: readonly Promise<T>[]): Promise<T[]> {
  const results = await Promise.allSettled(signing);
  return results.flatMap((result) => {
    if (result.status === "fulfilled") return [result.value];
    if (result.reason instanceof SignerFault) return [];
    throw result.reason;
  });
}

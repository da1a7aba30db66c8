/** Asks a signer with Web3Signer's API for a signature, and believes nothing that it says. */
import { type Hex, keccak256, recoverPublicKey, slice } from "viem";
import { prefixedKey } from "../../../lib/key-address.ts";
import { errorText } from "../../../lib/log.ts";

export type Signature = { readonly r: Hex; readonly s: Hex; readonly yParity: number };

/** A key that the signer has. */
export type SignerKey = {
  /** Uncompressed, without its prefix 04: 64 bytes. The signer knows the key by it. */
  readonly publicKey: Hex;
  /** Of the signer, without a path of its API. */
  readonly signerUrl: string;
};

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

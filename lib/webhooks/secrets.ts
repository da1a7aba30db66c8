import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

/**
 * Encrypts the webhooks' signing secrets in the database: AES-256-GCM under `SECRETS_KEY`. While that is rotated, what was sealed
 * with `SECRETS_KEY_PREVIOUS` opens too. The wallet is authenticated too, so
 * that a sealed secret in another wallet's row does not open.
 */

const ALGORITHM = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Prefix of a sealed secret. Nonce, tag and ciphertext follow in base64. */
const VERSION = "v1.";

/** The keys do not open the secret: it was sealed with another key, or is damaged. */
export class UnopenableSecret extends Error {
  override name = "UnopenableSecret";
  constructor(options: { cause?: unknown } = {}) {
    super("a webhook's secret cannot be opened with this SECRETS_KEY", options);
  }
}

export type Sealer = {
  /** `wallet` in lower or mixed case. */
  seal(secret: string, wallet: string): string;
  /** Throws {@link UnopenableSecret}. */
  open(sealed: string, wallet: string): string;
  /** Seals with the key what the previous one sealed; undefined for what the key sealed. Throws {@link UnopenableSecret}. */
  reseal(sealed: string, wallet: string): string | undefined;
};

/** A new signing secret, as the subscriber receives it: 32 random bytes in hex. */
export const newSecret = (): string => randomBytes(32).toString("hex");

const owner = (wallet: string) => Buffer.from(wallet.toLowerCase());

function sealWith(key: Buffer, secret: string, wallet: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(owner(wallet));
  const text = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
  return VERSION + Buffer.concat([nonce, cipher.getAuthTag(), text]).toString("base64");
}

/** Throws {@link UnopenableSecret}. */
function openWith(key: Buffer, sealed: string, wallet: string): string {
  if (!sealed.startsWith(VERSION)) throw new UnopenableSecret();
  const bytes = Buffer.from(sealed.slice(VERSION.length), "base64");
  const tag = bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
  try {
    const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    })
      .setAAD(owner(wallet))
      .setAuthTag(tag);
    const text = bytes.subarray(NONCE_BYTES + TAG_BYTES);
    return Buffer.concat([decipher.update(text), decipher.final()]).toString("utf8");
  } catch (cause) {
    throw new UnopenableSecret({ cause });
  }
}

/** Seals secrets with a key, and opens what that key or the `previous` one sealed. A key is 64 hex digits. */
export function createSealer(hexKey: string, previous?: string): Sealer {
  const key = Buffer.from(hexKey, "hex");
  const keys = previous === undefined ? [key] : [key, Buffer.from(previous, "hex")];
  function openWithAny(sealed: string, wallet: string): { secret: string; openedBy: Buffer } {
    let fault: unknown;
    for (const openedBy of keys) {
      try {
        return { secret: openWith(openedBy, sealed, wallet), openedBy };
      } catch (error) {
        fault = error;
      }
    }
    throw fault;
  }
  return {
    seal: (secret, wallet) => sealWith(key, secret, wallet),
    open: (sealed, wallet) => openWithAny(sealed, wallet).secret,
    reseal(sealed, wallet) {
      const { secret, openedBy } = openWithAny(sealed, wallet);
      return openedBy === key ? undefined : sealWith(key, secret, wallet);
    },
  };
}

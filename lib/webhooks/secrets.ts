import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

/**
 * Encrypts the webhooks' signing secrets in the database: AES-256-GCM under `SECRETS_KEY`. The wallet is authenticated too, so
 * that a sealed secret in another wallet's row does not open.
 */

const ALGORITHM = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Prefix of a sealed secret. Nonce, tag and ciphertext follow in base64. */
const VERSION = "v1.";

/** This key does not open the secret: it was sealed with another key, or is damaged. */
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
};

/** A new signing secret, as the subscriber receives it: 32 random bytes in hex. */
export const newSecret = (): string => randomBytes(32).toString("hex");

/** Seals and opens secrets with one key: 64 hex digits. */
export function createSealer(hexKey: string): Sealer {
  const key = Buffer.from(hexKey, "hex");
  const owner = (wallet: string) => Buffer.from(wallet.toLowerCase());
  return {
    seal(secret, wallet) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(owner(wallet));
      const text = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
      return VERSION + Buffer.concat([nonce, cipher.getAuthTag(), text]).toString("base64");
    },
    open(sealed, wallet) {
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
    },
  };
}

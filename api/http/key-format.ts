import { createHash, randomBytes } from "node:crypto";

const KEY_PATTERN = /^lk_[0-9a-f]{64}$/;

/** True for a text of the form `lk_<64 hex digits>`. */
export const isWellFormedKey = (text: string): boolean => KEY_PATTERN.test(text);

/** A new key: `lk_` and 32 random bytes as hex. It is shown once; only its hash is stored. */
export const generateKey = (): string => `lk_${randomBytes(32).toString("hex")}`;

/**
 * SHA-256 of a key, as hex. A key has 256 random bits, so a plain hash protects it as well as a slow one would, and a
 * look-up by hash tells an attacker nothing by its timing.
 */
export const hashKey = (key: string): string => createHash("sha256").update(key).digest("hex");

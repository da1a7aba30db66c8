import { createSecretKey, type KeyObject } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Sealer } from "../../lib/webhooks/secrets.ts";
import type { Batch } from "./claim-deliveries.ts";
import type { SigningSecrets } from "./signature.ts";

/** Opens a subscription's secrets. Throws when the key does not fit. */
export type OpenSecrets = (sealed: Pick<Batch, "wallet" | "secret" | "previousSecret">) => SigningSecrets;

/** Caches the last `max` opened secrets. */
export function createSecretCache(sealer: Sealer, max = 5000): OpenSecrets {
  const opened = new LRUCache<string, KeyObject>({ max });
  function open(sealed: string, wallet: string): KeyObject {
    // The wallet is part of the key: a secret sealed for one wallet must not open for another.
    const key = `${wallet} ${sealed}`;
    const known = opened.get(key);
    if (known) return known;
    const secret = createSecretKey(Buffer.from(sealer.open(sealed, wallet), "utf8"));
    opened.set(key, secret);
    return secret;
  }
  return ({ wallet, secret, previousSecret }) => ({
    secret: open(secret, wallet),
    previousSecret: previousSecret === null ? undefined : open(previousSecret, wallet),
  });
}

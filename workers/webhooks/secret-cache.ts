import { createSecretKey, type KeyObject } from "node:crypto";
import { LRUCache } from "lru-cache";
import { type Sealer, UnopenableSecret } from "../../lib/webhooks/secrets.ts";
import type { Batch } from "./claim-deliveries.ts";
import type { SigningSecrets } from "./signature.ts";

/** Opens a subscription's secrets, without a previous one that the key does not open. Throws when it does not open the present one. */
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
  /** A rotation after the loss of the key leaves a previous secret that nobody can open: the new one must sign without it. */
  function openPrevious(sealed: string | null, wallet: string): KeyObject | undefined {
    try {
      return sealed === null ? undefined : open(sealed, wallet);
    } catch (error) {
      if (error instanceof UnopenableSecret) return undefined;
      throw error;
    }
  }
  return ({ wallet, secret, previousSecret }) => ({
    secret: open(secret, wallet),
    previousSecret: openPrevious(previousSecret, wallet),
  });
}

import type { Hex } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { isAnvilAddress } from "../lib/chain/client.ts";
import { ConfigError, DEV_SECRETS_KEY } from "../lib/config.ts";

/**
 * Refuses keys that do not fit the chain: everybody knows anvil's keys, so they are for local chains, and there no other
 * key is accepted, so that a real one is never used by mistake. Throws {@link ConfigError}; the message names addresses,
 * never keys.
 */
export function requireFittingKeys(privateKeys: readonly Hex[], local: boolean): void {
  const addresses = privateKeys.map((key) => privateKeyToAddress(key));
  const wrong = addresses.filter((address) => isAnvilAddress(address) !== local);
  if (wrong.length === 0) return;
  throw new ConfigError(
    wrong.map((address) =>
      local
        ? `RELAYER_PRIVATE_KEYS: ${address} is not one of anvil's accounts, and a local chain accepts no other`
        : `RELAYER_PRIVATE_KEYS: ${address} is one of anvil's accounts, whose key everybody knows; this chain is not local`,
    ),
  );
}

/** Refuses the key for secrets that everybody knows where the chain is not local. Throws {@link ConfigError}. */
export function requireOwnSecretsKey(secretsKey: string, local: boolean): void {
  if (local || secretsKey.toLowerCase() !== DEV_SECRETS_KEY) return;
  throw new ConfigError([
    "SECRETS_KEY is required on a chain that is not local: its default is known to everybody",
  ]);
}

/** The API key of the connected wallet. It is in this page's memory alone, and is revoked when the page is left. */
import { computed, signal } from "@preact/signals";
import { type Client, createClient, onboard, untilAnswered, type Wallet } from "../../../../client/index.ts";

type Key = {
  readonly keyId: number;
  readonly wallet: Wallet;
  /** Calls with the key. */
  readonly client: Client;
  /** The same for the last call of a page that is being left. */
  readonly lastCall: Client;
};

const current = signal<Key | undefined>(undefined);

/** The id of the key; undefined without one. */
export const keyId = computed(() => current.value?.keyId);

/** Without a key, and with the time that a purchase may take. */
export const keyless = createClient({ baseUrl: "" });

/** A client with the wallet's key; undefined without one. */
export const keyClient = (wallet: Wallet): Client | undefined =>
  current.value?.wallet === wallet ? current.value.client : undefined;

/** The terms of this page's key. `replaces` is the id of a key of the wallet, which is revoked for it. */
export const keyTerms = (replaces: number | undefined) => ({
  label: "dashboard",
  scopes: ["read" as const, "buy" as const],
  ...(replaces === undefined ? {} : { replaces }),
});

/** Lets the wallet sign a message that states these terms, and keeps the key that it gets. @throws WalletError, ApiError, ConnectionError */
export async function makeKey(
  wallet: Wallet,
  message: string,
  terms: ReturnType<typeof keyTerms>,
): Promise<void> {
  const { keyId: id, apiKey } = await onboard(keyless, wallet, { message }, terms);
  const headers = { "x-api-key": apiKey };
  current.value = {
    keyId: id,
    wallet,
    client: createClient({ baseUrl: "", headers }),
    lastCall: createClient({
      baseUrl: "",
      headers,
      fetch: (url, init) => fetch(url, { ...init, keepalive: true }),
    }),
  };
}

/** Forgets the key, and revokes it: a wallet has three at most, and nobody else has this one. */
export function forgetKey(): void {
  const known = current.value;
  if (!known) return;
  current.value = undefined;
  const revoke = () => known.lastCall.delete("/api/v1/agent/keys/{keyId}", { path: { keyId: known.keyId } });
  // Without an answer the key lives on, unknown to anybody, until the operator revokes it.
  untilAnswered(revoke).catch(() => undefined);
}

addEventListener("pagehide", forgetKey);

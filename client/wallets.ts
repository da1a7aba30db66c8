/** Browser wallets that announce themselves (EIP-6963), and the requests that they take (EIP-1193). */
import { askWallet, isStrings, WalletError } from "./wallet-error.ts";

/** A wallet's own interface. A refused or failed request rejects with a `code`, see `wallet-error.ts`. */
export type Provider = {
  request(call: { method: string; params?: readonly unknown[] }): Promise<unknown>;
  /** Events of EIP-1193. */
  on?(event: string, listener: (...values: unknown[]) => void): unknown;
  removeListener?(event: string, listener: (...values: unknown[]) => void): unknown;
};

export type AnnouncedWallet = {
  /** The same within a page's life only. */
  readonly uuid: string;
  readonly name: string;
  /** A data URI, which a strict content security policy does not show. */
  readonly icon: string;
  /** The wallet's reversed domain name: `io.metamask`. */
  readonly rdns: string;
  readonly provider: Provider;
};

/** A connected account of a wallet. */
export type Wallet = { readonly provider: Provider; readonly address: string };

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

const isProvider = (value: unknown): value is Provider =>
  isObject(value) && typeof value.request === "function";

/** The wallet that an announcement describes; undefined where it is malformed, for any script of the page may send one. */
function readAnnouncement(event: Event): AnnouncedWallet | undefined {
  const detail: unknown = "detail" in event ? event.detail : undefined;
  if (!isObject(detail) || !isObject(detail.info) || !isProvider(detail.provider)) return undefined;
  const { uuid, name, icon, rdns } = detail.info;
  const isComplete =
    typeof uuid === "string" &&
    typeof name === "string" &&
    typeof icon === "string" &&
    typeof rdns === "string";
  return isComplete ? { uuid, name, icon, rdns, provider: detail.provider } : undefined;
}

/**
 * Calls `onWallet` for each wallet that announces itself, once, now or later.
 * @param page the page's `window`
 * @returns a function that ends the search
 */
export function discoverWallets(page: EventTarget, onWallet: (wallet: AnnouncedWallet) => void): () => void {
  const known = new Set<string>();
  const listen = (event: Event) => {
    const wallet = readAnnouncement(event);
    if (!wallet || known.has(wallet.uuid)) return;
    known.add(wallet.uuid);
    onWallet(wallet);
  };
  page.addEventListener("eip6963:announceProvider", listen);
  page.dispatchEvent(new Event("eip6963:requestProvider"));
  return () => page.removeEventListener("eip6963:announceProvider", listen);
}

/**
 * Asks a wallet for an account; the wallet asks its owner.
 * @throws WalletError when the owner refuses, or the wallet shows no account
 */
export async function connectWallet(provider: Provider): Promise<Wallet> {
  const [address] = await askWallet(provider, "eth_requestAccounts", [], isStrings);
  if (address === undefined) throw new WalletError("no_account", "The wallet shows no account.");
  return { provider, address };
}

/**
 * Calls `onAccounts` when the owner chooses other accounts in the wallet, or takes them back: then there is none.
 * @returns a function that ends it
 */
export function watchAccounts(
  provider: Provider,
  onAccounts: (addresses: readonly string[]) => void,
): () => void {
  const listen = (accounts: unknown) => {
    if (isStrings(accounts)) onAccounts(accounts);
  };
  provider.on?.("accountsChanged", listen);
  return () => provider.removeListener?.("accountsChanged", listen);
}

/** The browser wallet that signs. It is known for as long as this page lives; nothing of it is stored. */
import { computed, signal } from "@preact/signals";
import {
  type AnnouncedWallet,
  connectWallet,
  discoverWallets,
  type Wallet,
  watchAccounts,
} from "../../../../client/index.ts";
import { go, place } from "../../../data/place.ts";
import { forgetKey } from "./key.ts";

export type Connection =
  | { readonly state: "none"; readonly fault: string | undefined }
  | { readonly state: "asking"; readonly name: string }
  | { readonly state: "connected"; readonly name: string; readonly wallet: Wallet };

const found = signal<readonly AnnouncedWallet[]>([]);
const current = signal<Connection>({ state: "none", fault: undefined });
let stopWatching = () => {};

/** The wallets that have announced themselves to this page. */
export const announced = computed(() => found.value);
export const connection = computed(() => current.value);
/** The account that signs; undefined without one. */
export const signer = computed(() =>
  current.value.state === "connected" ? current.value.wallet : undefined,
);

/** Whether two addresses are the same: wallets write them with a checksum or without. */
export const sameAddress = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** Whether an address is that of the account that signs. */
export const isOwn = (address: string): boolean =>
  signer.value !== undefined && sameAddress(signer.value.address, address);

function connected(name: string, wallet: Wallet): void {
  current.value = { state: "connected", name, wallet };
  go(`/wallet/${wallet.address}`);
}

/** Forgets wallet and key. */
export function disconnect(): void {
  stopWatching();
  forgetKey();
  current.value = { state: "none", fault: undefined };
}

/** Follows the owner to another account; the page goes along where it shows the one before. */
function follow(name: string, wallet: Wallet, [address]: readonly string[]): void {
  const { value } = current;
  if (value.state !== "connected" || value.wallet.provider !== wallet.provider) return;
  if (address === undefined) {
    disconnect();
    return;
  }
  if (sameAddress(address, value.wallet.address)) return;
  const showsIt = place.value.page === "wallet" && isOwn(place.value.detail ?? "");
  forgetKey();
  const next: Wallet = { provider: wallet.provider, address };
  if (showsIt) connected(name, next);
  else current.value = { state: "connected", name, wallet: next };
}

/** Asks a wallet for its account, and goes to the page of that. */
export async function connect({ name, provider }: AnnouncedWallet): Promise<void> {
  current.value = { state: "asking", name };
  try {
    const wallet = await connectWallet(provider);
    stopWatching();
    stopWatching = watchAccounts(provider, (addresses) => follow(name, wallet, addresses));
    connected(name, wallet);
  } catch (error) {
    current.value = { state: "none", fault: error instanceof Error ? error.message : String(error) };
  }
}

discoverWallets(window, (wallet) => {
  found.value = [...found.value, wallet];
});

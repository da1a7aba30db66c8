/** The chain that a wallet is on. */
import { askWallet, failureNumber, isString, WalletError } from "./wallet-error.ts";
import type { Provider } from "./wallets.ts";

/** `unrecognizedChainId` of EIP-3326. */
const UNKNOWN_CHAIN = 4902;

/** Hex as wallets want quantities: without leading zeros. */
export const quantity = (value: bigint): string => `0x${value.toString(16)}`;

const isQuantity = (value: unknown): value is string => isString(value) && /^(0x[0-9a-f]+|\d+)$/i.test(value);

/** The id of the chain that a wallet is on. @throws WalletError */
export const chainOf = async (provider: Provider): Promise<number> =>
  Number(BigInt(await askWallet(provider, "eth_chainId", [], isQuantity)));

/**
 * Asks a wallet to change to a chain; the wallet asks its owner.
 * @throws WalletError `wrong_chain` when it stays on another one
 */
export async function switchChain(provider: Provider, chainId: number): Promise<void> {
  try {
    const params = [{ chainId: quantity(BigInt(chainId)) }];
    await provider.request({ method: "wallet_switchEthereumChain", params });
  } catch (cause) {
    const reason =
      failureNumber(cause) === UNKNOWN_CHAIN
        ? `The wallet does not know chain ${chainId}: add it in the wallet.`
        : `The wallet stayed on another chain than ${chainId}.`;
    throw new WalletError("wrong_chain", reason, { cause });
  }
  if ((await chainOf(provider)) !== chainId)
    throw new WalletError("wrong_chain", `The wallet stayed on another chain than ${chainId}.`);
}

/** Makes sure that a wallet is on a chain, and asks it to change where it is not. @throws WalletError */
export async function onChain(provider: Provider, chainId: number): Promise<void> {
  if ((await chainOf(provider)) !== chainId) await switchChain(provider, chainId);
}

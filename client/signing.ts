/** What a wallet is asked to do for a step. */
import type { SignatureStep, TransactionStep } from "./execute.ts";
import { pause } from "./pause.ts";
import { askWallet, isString, WalletError } from "./wallet-error.ts";
import type { Provider, Wallet } from "./wallets.ts";

/** Between two looks for a receipt, in ms: a block takes two seconds. */
const RECEIPT_EVERY_MS = 1000;

/** Hex as wallets want quantities: without leading zeros. */
const quantity = (value: bigint) => `0x${value.toString(16)}`;

/**
 * Makes sure that the wallet is on a chain, and asks it to change where it is not.
 * @throws WalletError `wrong_chain`
 */
export async function onChain(provider: Provider, chainId: number): Promise<void> {
  const isOn = async () => BigInt(await askWallet(provider, "eth_chainId", [], isString)) === BigInt(chainId);
  if (await isOn()) return;
  try {
    await provider.request({
      method: "wallet_switchEthereumChain",
      params: [{ chainId: quantity(BigInt(chainId)) }],
    });
  } catch (cause) {
    throw new WalletError("wrong_chain", `The wallet is on another chain than ${chainId}.`, { cause });
  }
  if (!(await isOn()))
    throw new WalletError("wrong_chain", `The wallet stayed on another chain than ${chainId}.`);
}

type Receipt = { readonly status: string };
const isReceiptOrNull = (value: unknown): value is Receipt | null =>
  value === null || (typeof value === "object" && "status" in value && typeof value.status === "string");

async function waitForReceipt({ provider }: Wallet, txHash: string, signal?: AbortSignal): Promise<Receipt> {
  for (;;) {
    signal?.throwIfAborted();
    const receipt = await askWallet(provider, "eth_getTransactionReceipt", [txHash], isReceiptOrNull);
    if (receipt) return receipt;
    await pause(RECEIPT_EVERY_MS, signal);
  }
}

/**
 * Sends a transaction from the wallet and waits until it is mined.
 * @returns its hash
 * @throws WalletError also when it reverts
 */
export async function sendTransaction(
  wallet: Wallet,
  { to, data, value, description }: TransactionStep,
  signal?: AbortSignal,
): Promise<string> {
  const transaction = { from: wallet.address, to, data, value: quantity(BigInt(value)) };
  const txHash = await askWallet(wallet.provider, "eth_sendTransaction", [transaction], isString);
  const { status } = await waitForReceipt(wallet, txHash, signal);
  if (BigInt(status) !== 1n)
    throw new WalletError("reverted", `${description} The transaction ${txHash} reverted.`);
  return txHash;
}

const domainType = [
  { name: "name", type: "string" },
  { name: "version", type: "string" },
  { name: "chainId", type: "uint256" },
  { name: "verifyingContract", type: "address" },
];

/** Signs typed data (EIP-712). @returns the signature @throws WalletError */
export function signTypedData(
  wallet: Wallet,
  { types, ...data }: SignatureStep["typedData"],
): Promise<string> {
  const typedData = { ...data, types: { EIP712Domain: domainType, ...types } };
  return askWallet(
    wallet.provider,
    "eth_signTypedData_v4",
    [wallet.address, JSON.stringify(typedData)],
    isString,
  );
}

/** What a wallet is asked to do for a step. */
import { quantity } from "./chain.ts";
import type { SignatureStep, TransactionStep } from "./execute.ts";
import { pause } from "./pause.ts";
import { askWallet, isString, WalletError } from "./wallet-error.ts";
import type { Wallet } from "./wallets.ts";

/** Between two looks for a receipt, in ms: a block takes two seconds. */
const RECEIPT_EVERY_MS = 1000;
/**
 * Looks in a row that find the nonce used and no receipt, before the transaction counts as replaced: the nodes behind a wallet
 * do not all know a block at once.
 */
const REPLACED_LOOKS = 10;

/**
 * Sends a transaction from the wallet.
 * @param chainId the wallet refuses to send it on another chain
 * @returns its hash @throws WalletError
 */
export const sendTransaction = (
  { provider, address }: Wallet,
  { to, data, value, gas }: TransactionStep,
  chainId: number,
): Promise<string> => {
  const amounts = {
    value: quantity(BigInt(value)),
    chainId: quantity(BigInt(chainId)),
    ...(gas === null ? {} : { gas: quantity(BigInt(gas)) }),
  };
  return askWallet(provider, "eth_sendTransaction", [{ from: address, to, data, ...amounts }], isString);
};

type Receipt = { readonly status: string };
const isReceiptOrNull = (value: unknown): value is Receipt | null =>
  value === null || (typeof value === "object" && "status" in value && isString(value.status));
type Sent = { readonly nonce: string };
const isSentOrNull = (value: unknown): value is Sent | null =>
  value === null || (typeof value === "object" && "nonce" in value && isString(value.nonce));

/** What a wallet reads from its node; undefined while it cannot: a read that fails says nothing about the transaction. */
async function read<Answer>(
  { provider }: Wallet,
  method: string,
  params: readonly unknown[],
  isAnswer: (value: unknown) => value is Answer,
): Promise<Answer | undefined> {
  try {
    return await askWallet(provider, method, params, isAnswer);
  } catch {
    return undefined;
  }
}

/** Waits for a receipt, however long it takes. @throws WalletError `replaced` */
async function waitForReceipt(wallet: Wallet, txHash: string, signal?: AbortSignal): Promise<Receipt> {
  let nonce: bigint | undefined;
  let looksAfterUse = 0;
  for (;;) {
    signal?.throwIfAborted();
    const sent =
      nonce === undefined ? await read(wallet, "eth_getTransactionByHash", [txHash], isSentOrNull) : null;
    if (sent) nonce = BigInt(sent.nonce);
    const count = await read(wallet, "eth_getTransactionCount", [wallet.address, "latest"], isString);
    // The receipt is read after the count: a nonce that is used by this very transaction has its receipt then.
    const receipt = await read(wallet, "eth_getTransactionReceipt", [txHash], isReceiptOrNull);
    if (receipt) return receipt;
    const isUsed = nonce !== undefined && count !== undefined && BigInt(count) > nonce;
    if (receipt === null) looksAfterUse = isUsed ? looksAfterUse + 1 : 0;
    if (looksAfterUse === REPLACED_LOOKS)
      throw new WalletError(
        "replaced",
        `Another transaction took the place of ${txHash}: the wallet's list of transactions has it.`,
        { txHash },
      );
    await pause(RECEIPT_EVERY_MS, signal);
  }
}

/**
 * Waits until a transaction of the wallet is mined, however long it takes.
 * @throws WalletError `reverted` or `replaced`; the signal's reason, which leaves the transaction as it is
 */
export async function waitUntilMined(
  wallet: Wallet,
  { description }: TransactionStep,
  txHash: string,
  signal?: AbortSignal,
): Promise<void> {
  const { status } = await waitForReceipt(wallet, txHash, signal);
  if (BigInt(status) !== 1n)
    throw new WalletError("reverted", `${description} The transaction ${txHash} reverted.`, { txHash });
}

/** Signs typed data (EIP-712). @returns the signature @throws WalletError */
export const signTypedData = (
  { provider, address }: Wallet,
  typedData: SignatureStep["typedData"],
): Promise<string> =>
  askWallet(provider, "eth_signTypedData_v4", [address, JSON.stringify(typedData)], isString);

const hexOf = (text: string): string =>
  Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, "0")).join("");

/** Signs a text (EIP-191). @returns the signature @throws WalletError */
export const signText = ({ provider, address }: Wallet, text: string): Promise<string> =>
  askWallet(provider, "personal_sign", [`0x${hexOf(text)}`, address], isString);

/** Requests to a wallet, and why one can fail. */
import type { Provider } from "./wallets.ts";

export type WalletErrorCode =
  /** The owner said no. */
  | "refused"
  /** The wallet is on another chain, and would not or could not change it. */
  | "wrong_chain"
  /** The wallet shows no account, or not the one that the action is for. */
  | "no_account"
  /** A transaction was mined and reverted. */
  | "reverted"
  /** Another transaction was mined in its place: the owner sped it up or cancelled it. */
  | "replaced"
  /** Anything else that the wallet reports. */
  | "failed";

/** A wallet did not do what it was asked for. `message` explains it to its owner. */
export class WalletError extends Error {
  override readonly name = "WalletError";
  readonly code: WalletErrorCode;
  /** The transaction that reverted, or was replaced. */
  readonly txHash: string | undefined;

  constructor(code: WalletErrorCode, message: string, options: ErrorOptions & { txHash?: string } = {}) {
    super(message, options);
    this.code = code;
    this.txHash = options.txHash;
  }
}

/** `userRejectedRequest` of EIP-1193. */
const REFUSED = 4001;
/** `resourceUnavailable` of EIP-1474: wallets show one request at a time. */
const BUSY = -32002;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

/** The number by which a wallet says why it failed; undefined where it has none. */
export const failureNumber = (error: unknown): number | undefined =>
  isObject(error) && typeof error.code === "number" ? error.code : undefined;

/** What a wallet says of a failure. Some put the node's own words into `data`, below a general message. */
function reasonOf(error: unknown): string {
  if (!isObject(error)) return "it gives no reason";
  const inner = isObject(error.data) ? error.data.message : undefined;
  const reason = typeof inner === "string" ? inner : error.message;
  return typeof reason === "string" && reason !== "" ? reason : "it gives no reason";
}

function failureOf(method: string, cause: unknown): WalletError {
  const code = failureNumber(cause);
  if (code === REFUSED)
    return new WalletError("refused", "You refused the request in the wallet.", { cause });
  if (code === BUSY)
    return new WalletError("failed", "The wallet still asks you for something else: open it and answer.", {
      cause,
    });
  return new WalletError("failed", `The wallet could not do ${method}: ${reasonOf(cause)}`, { cause });
}

/**
 * Sends a request to a wallet and checks the form of its answer.
 * @throws WalletError
 */
export async function askWallet<Answer>(
  provider: Provider,
  method: string,
  params: readonly unknown[],
  isAnswer: (value: unknown) => value is Answer,
): Promise<Answer> {
  let answer: unknown;
  try {
    answer = await provider.request({ method, params });
  } catch (cause) {
    throw failureOf(method, cause);
  }
  if (!isAnswer(answer))
    throw new WalletError("failed", `The wallet's answer to ${method} has another form.`);
  return answer;
}

export const isString = (value: unknown): value is string => typeof value === "string";
export const isStrings = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every(isString);

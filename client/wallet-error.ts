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
  /** Anything else that the wallet reports. */
  | "failed";

/** A wallet did not do what it was asked for. `message` explains it to its owner. */
export class WalletError extends Error {
  override readonly name = "WalletError";
  readonly code: WalletErrorCode;

  constructor(code: WalletErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** `userRejectedRequest` of EIP-1193. */
const REFUSED = 4001;

const isRefusal = (error: unknown): boolean =>
  typeof error === "object" && error !== null && "code" in error && error.code === REFUSED;

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
    if (isRefusal(cause))
      throw new WalletError("refused", "You refused the request in the wallet.", { cause });
    const reason = cause instanceof Error ? cause.message : "it gives no reason";
    throw new WalletError("failed", `The wallet could not do ${method}: ${reason}`, { cause });
  }
  if (!isAnswer(answer))
    throw new WalletError("failed", `The wallet's answer to ${method} has another form.`);
  return answer;
}

export const isString = (value: unknown): value is string => typeof value === "string";
export const isStrings = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every(isString);

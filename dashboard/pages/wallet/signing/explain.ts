/** Why an action ended early, for its owner. */
import {
  ApiError,
  blockingIssue,
  ConnectionError,
  type Prepared,
  WalletError,
  type WalletErrorCode,
} from "../../../../client/index.ts";

const titles: Readonly<Record<WalletErrorCode, string>> = {
  refused: "You refused in the wallet",
  wrong_chain: "The wallet is on another chain",
  no_account: "The wallet is on another account",
  reverted: "The transaction reverted",
  replaced: "Another transaction took its place",
  failed: "The wallet did not do it",
};

export type Explanation = {
  readonly title: string;
  readonly reason: string;
  readonly txHash: string | undefined;
};

/** Title and reason of a failure. */
export function explain(error: unknown): Explanation {
  const reason = error instanceof Error ? error.message : String(error);
  if (error instanceof WalletError) {
    return {
      title: titles[error.code],
      reason: error.code === "refused" ? "Nothing of this step was signed or sent." : reason,
      txHash: error.txHash,
    };
  }
  if (error instanceof ConnectionError)
    return { title: "The API does not answer", reason, txHash: undefined };
  if (error instanceof ApiError) {
    const details = error.details.map(({ path, message }) => `${path} ${message}`);
    const text = details.length === 0 ? reason : `${reason} ${details.join("; ")}.`;
    return { title: "The service refused it", reason: text, txHash: undefined };
  }
  return { title: "It did not work", reason, txHash: undefined };
}

/** Why the contracts would refuse a prepared action; undefined when they would not. */
export function obstacleOf(prepared: Prepared): string | undefined {
  const issue = blockingIssue(prepared);
  if (issue) return issue.message;
  const { simulation } = prepared;
  return simulation.status === "reverts" ? `The chain would refuse it now: ${simulation.reason}` : undefined;
}

/** A client of the Parametric Cover Service: typed calls, polled reads, pages, and actions that a wallet signs. */
export { ApiError, ConnectionError, type ErrorCode, type FieldFault, hasCode } from "./api-error.ts";
export { chainOf, switchChain } from "./chain.ts";
export { type Client, createClient, type Revalidated } from "./client.ts";
export type { AnswerHead, Connection, RateLimit } from "./exchange.ts";
export {
  blockingIssue,
  type Executed,
  type ExecuteOptions,
  execute,
  type Issue,
  isToDo,
  type Prepared,
  type SignatureStep,
  type Step,
  type StepOutcome,
  type TransactionStep,
} from "./execute.ts";
export { onboard, type SignInTerms, signInMessage } from "./onboard.ts";
export type { AnswerTo, Operation, PathWith, RequestArgument, Schema } from "./operations.ts";
export { type PagedPath, pages } from "./pages.ts";
export { createPolledRead, type PolledAnswer } from "./polled-read.ts";
export { untilAnswered } from "./repeat.ts";
export { PurchaseInDoubt, type PurchaseReceipt } from "./report.ts";
export { WalletError, type WalletErrorCode } from "./wallet-error.ts";
export {
  type AnnouncedWallet,
  connectWallet,
  discoverWallets,
  type Provider,
  type Wallet,
  watchAccounts,
} from "./wallets.ts";

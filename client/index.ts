/** A client of the Parametric Cover Service: typed calls, polled reads, pages, and actions that a wallet signs. */
export {
  ApiError,
  ConnectionError,
  type ErrorCode,
  type FieldFault,
  hasCode,
  isRetryable,
} from "./api-error.ts";
export type { Decimal, WithBigints } from "./bigints.ts";
export { chainOf, switchChain } from "./chain.ts";
export { type Client, createClient, type Revalidated } from "./client.ts";
export type { Order } from "./cover/buy.ts";
export { type PendingPurchase, type Purchase, PurchaseFailed, type Receipt } from "./cover/purchase.ts";
export { type CoverClient, type CoverSettings, createCoverClient } from "./cover.ts";
export type { AnswerHead, Connection, RateLimit, ReceivedResponse, SentRequest } from "./exchange.ts";
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
export {
  keyResources,
  onboard,
  type SignIn,
  type SignInTerms,
  signInMessage,
  timedMessage,
} from "./onboard.ts";
export type { AnswerTo, Operation, PathWith, RequestArgument, Schema, TablePath } from "./operations.ts";
export { type PagedPath, pages } from "./pages.ts";
export { createPolledRead, type PolledAnswer } from "./polled-read.ts";
export { untilAnswered } from "./repeat.ts";
export { PurchaseInDoubt, type PurchaseReceipt } from "./report.ts";
export { noRetries, type RetryPolicy, specifiedRetries } from "./retries.ts";
export { type ViemWallet, viemWallet } from "./viem-wallet.ts";
export { WalletError, type WalletErrorCode } from "./wallet-error.ts";
export {
  type AnnouncedWallet,
  connectWallet,
  discoverWallets,
  type Provider,
  type Wallet,
  watchAccounts,
} from "./wallets.ts";

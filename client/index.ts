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
export { type Client, createClient, type Revalidated } from "./client.ts";
export { type Order, PremiumTooHigh } from "./cover/buy.ts";
export { type PendingPurchase, type Purchase, PurchaseFailed, type Receipt } from "./cover/purchase.ts";
export { type CoverClient, type CoverSettings, createCoverClient } from "./cover.ts";
export type { AnswerHead, Connection, RateLimit, ReceivedResponse, SentRequest } from "./exchange.ts";
export { type Executed, execute, type Prepared, type Step, type StepOutcome } from "./execute.ts";
export type { AnswerTo, Operation, PathWith, RequestArgument, Schema } from "./operations.ts";
export { type PagedPath, pages } from "./pages.ts";
export { createPolledRead, type PolledAnswer } from "./polled-read.ts";
export { noRetries, type RetryPolicy, specifiedRetries } from "./retries.ts";
export { type ViemWallet, viemWallet } from "./viem-wallet.ts";
export { WalletError, type WalletErrorCode } from "./wallet-error.ts";
export { type AnnouncedWallet, connectWallet, discoverWallets, type Wallet } from "./wallets.ts";

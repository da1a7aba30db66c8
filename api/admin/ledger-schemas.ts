/** Schemas of the operator's view of the ledger. */
import { z } from "@hono/zod-openapi";
import { intentKinds, keeperPurposes } from "../../lib/ledger/kinds.ts";
import { walletRoles } from "../../lib/ledger/relayers.ts";
import { serviceTransactionPurposes } from "../../lib/ledger/service-transaction-figures.ts";
import {
  Address,
  DecimalString,
  nullableBytes32,
  nullableDecimal,
  nullableTimestamp,
  Timestamp,
  TxHash,
} from "../http/field-types.ts";
import { cursorField } from "../http/paging.ts";
import { chainIdField as chainId, count, nullableSeconds, pageLimit, seconds } from "./responses.ts";

const decimal = (description: string, example: string) => DecimalString.openapi({ description, example });

const purpose = z
  .enum([...serviceTransactionPurposes, ...keeperPurposes.map((name) => `keeper_${name}` as const)])
  .nullable()
  .openapi({ description: "What the service's own transaction does; null for others.", example: null });

const Wallet = z
  .object({
    chainId,
    address: Address,
    role: z.enum(walletRoles).openapi({
      description: "Relayers send purchases; the others send what their name says.",
      example: "relayer",
    }),
    balanceWei: nullableDecimal(
      "Its ether, in wei; null if the chain's node does not answer now.",
      "99000000000000000000",
    ),
    nextNonce: nullableDecimal("The nonce of its next transaction; null before its first use.", "17"),
    openFrom: decimal("No transaction with a lower nonce is open.", "16"),
    finalBelow: decimal(
      "Each transaction with a lower nonce is lost, or final in a block too deep to be watched.",
      "12",
    ),
    inFlight: z.int().openapi({ description: "Its open transactions.", example: 1 }),
    oldestSeconds: nullableSeconds("Age of the oldest open one; null if there is none."),
    writer: z.string().nullable().openapi({
      description: "The writer that sends from it; null if none does.",
      example: "host-4711-0b5f6f3a",
    }),
    seenAt: nullableTimestamp(
      "When a writer last renewed its lease; null if none ever had it.",
      "2026-01-01T00:00:00.000Z",
    ),
    pausedBecause: z.string().nullable().openapi({
      description: "Why its writer cannot sign with it now; null when it can.",
      example: null,
    }),
    abandoned: z.boolean().openapi({
      description: "It has open transactions, and no writer has had it for a minute: restore its key.",
      example: false,
    }),
    unknownTransactions: z.int().openapi({
      description:
        "Its transactions that the chain has and the ledger lacks: while there are some, no wallet of the chain signs anything new.",
      example: 0,
    }),
    unknownSince: nullableTimestamp("When these were found; null if there are none."),
  })
  .openapi("LedgerWallet");

const Gas = z
  .object({
    chainId,
    account: z.enum(["service", "keeper"]).openapi({
      description: "`service`: all wallets of the chain but the keeper's, which has a budget of its own.",
      example: "service",
    }),
    spentWei: decimal(
      "Gas since midnight UTC, in wei. A transaction that is not mined counts with its highest possible cost.",
      "4200000000000000",
    ),
    budgetWei: nullableDecimal(
      "The most that it may be in a UTC day, in wei, as the writer that started last has it; null if none has said.",
      "5000000000000000000",
    ),
    clientBudgetWei: nullableDecimal(
      "The most for the purchases of one wallet's keys, in wei; null for the keeper.",
      "500000000000000000",
    ),
    budgetStatedAt: nullableTimestamp("When that writer started.", "2026-01-01T00:00:00.000Z"),
  })
  .openapi("GasToday");

const Form = z
  .object({
    hash: TxHash,
    cancels: z.boolean().openapi({
      description: "An empty transfer that cancels the call.",
      example: false,
    }),
    maxFeePerGasWei: decimal("In wei.", "2000000000"),
    maxPriorityFeePerGasWei: decimal("In wei.", "1000000"),
    sentSecondsAgo: nullableSeconds("Since it was last sent; null when it is due to be sent again."),
  })
  .openapi("SignedForm");

const Flight = z
  .object({
    chainId,
    wallet: Address,
    nonce: decimal("Its nonce.", "16"),
    kind: z.enum([...intentKinds, "filler"]).openapi({
      description:
        "A purchase, its buyer's permit, a call that the service makes for itself, or an empty transfer that closes a gap.",
      example: "purchase",
    }),
    state: z.enum(["accepted", "signed", "broadcast"]).nullable().openapi({
      description: "`accepted`: it has a nonce only. `signed`: no node has taken it. Null for a filler.",
      example: "broadcast",
    }),
    entryId: z.string().nullable().openapi({
      description:
        "Id of the purchase or of the service's own transaction, for `npm run ledger -- show`; of a permit, that of its purchase; null for a filler.",
      example: "3f2b1c6e-5d0a-4e8f-9b7c-1a2d3e4f5a6b",
    }),
    purpose,
    ageSeconds: seconds("Since it waits to be mined, in seconds."),
    forms: z
      .array(Form)
      .openapi({ description: "Its signed forms, oldest first; one of them at most is mined." }),
  })
  .openapi("TransactionInFlight");

const Waiting = z
  .object({
    chainId,
    entryId: z.string().openapi({
      description: "Id of the purchase or of the service's own transaction.",
      example: "3f2b1c6e-5d0a-4e8f-9b7c-1a2d3e4f5a6b",
    }),
    purpose,
    keyId: z.string().nullable().openapi({
      description: "The key that bought, in decimal digits; null for others.",
      example: "1",
    }),
    wallet: Address,
    ageSeconds: seconds("Since it was accepted, in seconds."),
  })
  .openapi("WaitingEntry");

const Failed = z
  .object({
    chainId,
    entryId: z.string().openapi({ example: "3f2b1c6e-5d0a-4e8f-9b7c-1a2d3e4f5a6b" }),
    purpose: purpose.unwrap(),
    ageSeconds: seconds("Since it failed, in seconds."),
    code: z.string().openapi({ example: "tx_reverted" }),
    message: z.string().openapi({ example: "The transaction reverted." }),
    txHash: nullableBytes32("Null when nothing was sent."),
  })
  .openapi("FailedServiceTransaction");

const Gap = z.object({ chainId, wallet: Address, nonce: decimal("The nonce.", "16") }).openapi("NonceGap");

/** The most entries of the lists that have no cursor. */
export const SHORT_LIST = 50;

const newest = (what: string) => `${what}; at most ${SHORT_LIST}.`;

export const OperatorLedger = z
  .object({
    asOf: Timestamp,
    wallets: z.array(Wallet).openapi({ description: "Every wallet that the service has sent from." }),
    gas: z.array(Gas),
    waiting: z
      .array(Waiting)
      .openapi({ description: newest("Accepted and without a nonce, the oldest first") }),
    failed: z.array(Failed).openapi({
      description: newest("The service's own transactions that failed within 24 hours, the newest first"),
    }),
    gaps: z.array(Gap).openapi({
      description: newest("Nonces that the ledger lacks below transactions in flight"),
    }),
    count,
    limit: pageLimit,
    nextCursor: cursorField,
    transactions: z.array(Flight).openapi({ description: "Transactions in flight, the oldest first." }),
  })
  .openapi("OperatorLedger");

export type OperatorLedgerBody = z.infer<typeof OperatorLedger>;

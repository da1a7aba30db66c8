/** Schemas of the ledger as the operator sees it. Gas, fees and values are in wei; ages in seconds, by the database's clock. */
import { z } from "@hono/zod-openapi";
import { openStates, servicePurposes } from "../../lib/ledger/report.ts";
import { transactionKinds } from "../../lib/ledger/transaction-kind.ts";
import {
  Address,
  DecimalString,
  nullableBytes32,
  nullableDecimal,
  nullableTimestamp,
  Timestamp,
} from "../http/field-types.ts";
import { Label } from "../http/key-schemas.ts";
import { cursorField, pageFields } from "../http/paging.ts";

const ChainId = z.int().openapi({ example: 8453 });
const Role = z
  .enum(["relayer", "keeper", "sandbox", "faucet"])
  .openapi({ description: "What the wallet sends.", example: "relayer" });
const Purpose = z.enum(servicePurposes).nullable().openapi({
  description: "Of a transaction of the service itself; null of a purchase, a permit and a filler.",
  example: null,
});
const Nonce = DecimalString.openapi({ description: "The transaction's nonce.", example: "12" });
const seconds = (description: string) => z.number().openapi({ description, example: 3.2 });
const nullableSeconds = (description: string) => z.number().nullable().openapi({ description, example: 3.2 });
const count = (description: string) => z.int().openapi({ description, example: 1 });
const wei = (description: string) => DecimalString.openapi({ description, example: "42000000000000" });

const Wallet = z
  .object({
    chainId: ChainId,
    wallet: Address,
    role: Role,
    nextNonce: nullableDecimal("The next transaction's nonce; null before the wallet's first use.", "13"),
    inFlight: count("Transactions that have a nonce and are in no block."),
    oldestSeconds: nullableSeconds("Age of the oldest of them; null when there is none."),
    unknownTransactions: z.int().openapi({
      description: "Transactions that the chain has and the ledger lacks. Above 0 nothing new is signed.",
      example: 0,
    }),
    abandoned: z.boolean().openapi({
      description: "Transactions are in flight, and no writer has held the wallet for a minute.",
      example: false,
    }),
    stoppedBy: z.enum(["global", "keeper", "wallet"]).nullable().openapi({
      description: "Scope of the stop that covers it; null when none does.",
      example: null,
    }),
    fault: z.string().nullable().openapi({
      description: "Why its writer cannot sign with it now, in words; null when it can.",
      example: null,
    }),
    writer: z.string().nullable().openapi({
      description: "The writer that holds it; null when none does.",
      example: "host-4711-1f0c6be2",
    }),
  })
  .openapi("LedgerWallet");

const Flight = z
  .object({
    chainId: ChainId,
    wallet: Address,
    nonce: Nonce,
    kind: z.enum(transactionKinds).openapi({
      description: "`filler`: an empty transfer that closes a gap between nonces.",
      example: "purchase",
    }),
    state: z.enum(openStates).nullable().openapi({
      description:
        "`accepted`: it has a nonce only; `signed`: no node has taken it; `broadcast`: one has. Null of a filler.",
      example: "broadcast",
    }),
    purpose: Purpose,
    id: z.string().nullable().openapi({
      description:
        "The purchase (of a permit, its purchase) or service transaction, for `npm run ledger -- show <id>`; null of a filler.",
      example: "7f1f6a52-5b7e-4f0a-9c0e-2b1d6c1f0a11",
    }),
    ageSeconds: seconds("Time since it got its nonce, or since a reorganisation took its block."),
    attempts: count("Signed forms; later ones pay higher fees."),
    cancels: z.boolean().openapi({ description: "Whether one of them cancels the call.", example: false }),
    maxFeePerGas: nullableDecimal("Wei, of the newest form; null before the first.", "2000000000"),
    maxPriorityFeePerGas: nullableDecimal("Wei, of the newest form; null before the first.", "1000000000"),
    lastSentSeconds: nullableSeconds("Time since the newest form was sent; null if it never was."),
  })
  .openapi("LedgerFlight");

const Waiting = z
  .object({
    chainId: ChainId,
    id: z.string().openapi({ description: "For `npm run ledger -- show <id>`." }),
    purpose: Purpose,
    keyId: nullableDecimal("The key that bought; null without one.", "1"),
    wallet: Address.openapi({ description: "The key's wallet, or the wallet that will send." }),
    ageSeconds: seconds("Time since it was accepted."),
  })
  .openapi("LedgerWaiting");

const Failed = z
  .object({
    chainId: ChainId,
    id: z.string(),
    purpose: z.enum(servicePurposes),
    ageSeconds: seconds("Time since it failed."),
    code: z.string().openapi({ example: "onchain_revert" }),
    message: z.string(),
    txHash: nullableBytes32("With a hash it reverted in a block; null when nothing was signed."),
  })
  .openapi("LedgerFailure");

const Gas = z
  .object({
    chainId: ChainId,
    of: z.enum(["others", "keeper"]).openapi({
      description:
        "`keeper`: its wallet, which has a budget of its own; `others`: all other wallets of the chain.",
      example: "others",
    }),
    spent: wei("Of this UTC day; a transaction that is in no block counts with its highest possible cost."),
    budget: nullableDecimal(
      "The most for a UTC day; null before a writer has noted it.",
      "5000000000000000000",
    ),
    budgetPerClient: nullableDecimal(
      "The most for the purchases of one wallet's keys; null of the keeper.",
      "500000000000000000",
    ),
  })
  .openapi("LedgerGas");

const WalletSpending = z
  .object({
    chainId: ChainId,
    wallet: Address,
    role: Role,
    transactions: count("Transactions in blocks."),
    gas: wei("Gas cost, with the L1 fee."),
    sent: wei("Ether that the transactions transferred."),
  })
  .openapi("WalletSpending");

const KeySpending = z
  .object({
    keyId: DecimalString.openapi({ description: "Id of the key.", example: "1" }),
    wallet: Address,
    label: Label,
    purchases: count("Purchases in blocks."),
    reverted: z.int().openapi({ description: "Those that reverted.", example: 0 }),
    gas: wei("Gas cost, with the L1 fee."),
    premiums: DecimalString.openapi({ description: "Premiums paid, USDC (6 decimals).", example: "292000" }),
  })
  .openapi("KeySpending");

const Keeper = z.object({
  failedTasks: z.array(
    z
      .object({
        chainId: ChainId,
        purpose: z.enum(["trigger", "expire", "queue"]),
        productId: nullableBytes32("Null for the redemption queue."),
        policyId: DecimalString.openapi({
          description: "Id of the policy, or of the redemption queue's entry.",
          example: "17",
        }),
        failures: count("Failures in a row."),
        failure: z.string(),
        nextTrySeconds: z
          .number()
          .openapi({ description: "Time until the next try; below 0: at the next look.", example: 5 }),
      })
      .openapi("KeeperFailure"),
  ),
  absences: z.array(
    z
      .object({
        chainId: ChainId,
        from: Timestamp,
        to: nullableTimestamp("Null while it lasts."),
      })
      .openapi("KeeperAbsence"),
  ),
});

const list = <Entry extends z.ZodType>(entry: Entry, description: string) =>
  z.array(entry).openapi({ description });

export const Ledger = z
  .object({
    wallets: list(Wallet, "Every wallet of the service."),
    count: pageFields.count,
    limit: pageFields.limit,
    nextCursor: cursorField,
    inFlight: list(Flight, "Transactions that may still be mined, oldest first: one page."),
    waitingTotal: z
      .int()
      .openapi({ description: "Purchases and service transactions without a nonce.", example: 0 }),
    waiting: list(Waiting, "The oldest of them."),
    failed: list(Failed, "Service transactions that failed in the last 24 hours, newest first."),
    nonceGaps: list(
      z.object({ chainId: ChainId, wallet: Address, nonce: Nonce }).openapi("NonceGap"),
      "Nonces that the ledger lacks below transactions in flight.",
    ),
    pausedClients: list(
      z.object({ wallet: Address, until: Timestamp }).openapi("PausedClient"),
      "Buyers for whom nobody may buy, because three of their purchases or permits reverted within an hour.",
    ),
    gas: list(Gas, "Gas of this UTC day and its budgets."),
    spendingByWallet: list(WalletSpending, "Spent on transactions signed since midnight UTC."),
    spendingByKey: list(KeySpending, "The same by API key, highest gas cost first."),
    keeper: Keeper.nullable().openapi({
      description:
        "The keeper's work that has failed, and times in which none was at work; null if none ever was.",
    }),
  })
  .openapi("Ledger");

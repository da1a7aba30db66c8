import { sql } from "drizzle-orm";
import { bigint, boolean, integer, numeric, primaryKey, text, timestamp, uuid } from "drizzle-orm/pg-core";
import type { Address, Hex } from "viem";
import { service } from "../db/service.schema.ts";
import type { ErrorCode } from "../errors.ts";

/**
 * The relay ledger's tables that are read through drizzle; those of transactions and their signed forms are the writer's
 * alone. The constraints that keep a state and its evidence together stand in the migration
 * (`0002_relay_ledger.sql`, `0005_purchase_guards.sql`); addresses and hashes are lowercase.
 */

const uint256 = (name: string) => numeric(name, { precision: 78, scale: 0, mode: "bigint" });
const moment = (name: string) => timestamp(name, { withTimezone: true });

export const purchaseStates = [
  "accepted",
  "signed",
  "broadcast",
  "mined",
  "confirmed",
  "failed",
  "replaced",
] as const;
export type PurchaseState = (typeof purchaseStates)[number];

/** What somebody wants, and what became of it. */
export const purchaseTable = service.table("purchase", {
  id: uuid("id").primaryKey().defaultRandom(),
  chainId: integer("chain_id").notNull(),
  wallet: text("wallet").$type<Address>().notNull(),
  /** Null for a purchase of the sandbox, which is of nobody's key. */
  keyId: bigint("key_id", { mode: "number" }),
  idempotencyKey: text("idempotency_key"),
  fingerprint: text("fingerprint").notNull(),
  productId: text("product_id").$type<Hex>().notNull(),
  coverageAmount: uint256("coverage_amount").notNull(),
  asset: text("asset").$type<Hex>().notNull(),
  buyer: text("buyer").$type<Address>().notNull(),
  /** The premium when it was accepted, 6 decimals: so much of the buyer's money it holds while it is open. */
  quotedPremium: uint256("quoted_premium").notNull().default(0n),
  /** The leave under which a key of another wallet spends the buyer's money. */
  delegationId: bigint("delegation_id", { mode: "number" }),
  state: text("state", { enum: purchaseStates }).notNull().default("accepted"),
  failureCode: text("failure_code").$type<ErrorCode>(),
  failureMessage: text("failure_message"),
  txHash: text("tx_hash").$type<Hex>(),
  blockNumber: bigint("block_number", { mode: "bigint" }),
  blockHash: text("block_hash").$type<Hex>(),
  policyId: uint256("policy_id"),
  premiumPaid: uint256("premium_paid"),
  createdAt: moment("created_at").notNull().defaultNow(),
  updatedAt: moment("updated_at").notNull().defaultNow(),
  /** Whether an identical call without an idempotency key still joins this one. */
  joinable: boolean("joinable").notNull().default(true),
  /** When the sweeper may wake the writer for this row again. */
  wakeAt: moment("wake_at").notNull().default(sql`now() + interval '5 seconds'`),
  /** When the outcome was found to stand in a block deep enough, or to need none. */
  finalAt: moment("final_at"),
});

/** Relayers send purchases; on the testnet the sandbox's wallet pays premiums, and the faucet's gives grants away. */
export const walletRoles = ["relayer", "sandbox", "faucet"] as const;
export type WalletRole = (typeof walletRoles)[number];

/** The wallets that send, each with the writer that owns it for now. */
export const relayerWalletTable = service.table(
  "relayer_wallet",
  {
    chainId: integer("chain_id").notNull(),
    address: text("address").$type<Address>().notNull(),
    role: text("role", { enum: walletRoles }).notNull().default("relayer"),
    nextNonce: bigint("next_nonce", { mode: "number" }),
    leaseOwner: text("lease_owner"),
    leaseUntil: moment("lease_until").notNull(),
    /** Rises with each change of hands; a writer that still holds an older one can store nothing. */
    fencingToken: bigint("fencing_token", { mode: "bigint" }).notNull(),
    heartbeatAt: moment("heartbeat_at"),
    /** What keeps its owner from signing with it, in words. */
    fault: text("fault"),
  },
  (table) => [primaryKey({ columns: [table.chainId, table.address] })],
);

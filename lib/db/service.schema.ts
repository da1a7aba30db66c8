import {
  bigint,
  bigserial,
  index,
  integer,
  numeric,
  pgSchema,
  primaryKey,
  text,
  timestamp,
  uniqueIndex,
} from "drizzle-orm/pg-core";
import type { Address, Hex } from "viem";

/** The service's own tables. The indexer's stand in schemas of their own and are never written to. */
export const service = pgSchema("service");

/** Keys of the API. Only the SHA-256 of a key is kept; addresses are lowercase. */
export const apiKey = service.table(
  "api_key",
  {
    id: bigserial("id", { mode: "number" }).primaryKey(),
    keyHash: text("key_hash").notNull(),
    wallet: text("wallet").notNull(),
    label: text("label"),
    tier: text("tier", { enum: ["free", "paid"] }).notNull(),
    createdAt: timestamp("created_at", { withTimezone: true }).notNull().defaultNow(),
    lastUsedAt: timestamp("last_used_at", { withTimezone: true }),
    revokedAt: timestamp("revoked_at", { withTimezone: true }),
  },
  (table) => [uniqueIndex("api_key_hash").on(table.keyHash), index("api_key_wallet").on(table.wallet)],
);

/** The indexer deployments that were started, so that a first backfill, which has no views yet, can be told from none. */
export const indexerDeployment = service.table("indexer_deployment", {
  /** The Postgres schema that the deployment writes to; follows from its build. */
  schemaName: text("schema_name").primaryKey(),
  viewsSchema: text("views_schema").notNull(),
  chainId: integer("chain_id").notNull(),
  startedAt: timestamp("started_at", { withTimezone: true }).notNull().defaultNow(),
  /** The launcher's newest sign of life, by the database's clock. */
  heartbeatAt: timestamp("heartbeat_at", { withTimezone: true }),
});

/** Signatures that have made a key. A row may go once its timestamp is too old for the signature to be accepted. */
export const onboardingSignature = service.table(
  "onboarding_signature",
  {
    wallet: text("wallet").$type<Address>().notNull(),
    /** The signed timestamp, Unix seconds. */
    signedAt: bigint("signed_at", { mode: "number" }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.wallet, table.signedAt] })],
);

const uint256 = (name: string) => numeric(name, { precision: 78, scale: 0, mode: "bigint" });

/** Leaves of buyers to other wallets' keys to spend premiums of theirs; addresses and digests are lowercase. */
export const delegationTable = service.table("delegation", {
  id: bigserial("id", { mode: "number" }).primaryKey(),
  chainId: integer("chain_id").notNull(),
  /** The cover router that the signature names. */
  router: text("router").$type<Address>().notNull(),
  buyer: text("buyer").$type<Address>().notNull(),
  agent: text("agent").$type<Address>().notNull(),
  /** USDC base units (6 decimals). */
  totalPremiumCap: uint256("total_premium_cap").notNull(),
  expiresAt: timestamp("expires_at", { withTimezone: true }).notNull(),
  nonce: uint256("nonce").notNull(),
  /** What the buyer signed (EIP-712); it is accepted once, ever. */
  digest: text("digest").$type<Hex>().notNull(),
  createdAt: timestamp("created_at", { withTimezone: true }).notNull().defaultNow(),
  revokedAt: timestamp("revoked_at", { withTimezone: true }),
  /** Of purchases that were mined, and of those on their way; kept by a trigger. 6 decimals. */
  premiumSpent: uint256("premium_spent").notNull().default(0n),
});

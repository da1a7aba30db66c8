import { bigserial, index, integer, pgSchema, text, timestamp, uniqueIndex } from "drizzle-orm/pg-core";

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

import { bigint, bigserial, boolean, integer, jsonb, text, timestamp } from "drizzle-orm/pg-core";
import type { Address, Hex } from "viem";
import { service } from "../../lib/db/service.schema.ts";
import type { Attempt } from "../../lib/webhooks/attempt.ts";
import type { AnyEventType } from "../../lib/webhooks/events.ts";

/**
 * The tables of the webhooks, as they are read through drizzle. Constraints, leases and the rule that tells whose an event
 * is (`service.is_for`) stand in the migration (`0007_webhooks.sql`).
 */

const moment = (name: string) => timestamp(name, { withTimezone: true });
const number = (name: string) => bigint(name, { mode: "number" });

/** What a subscriber wants to be told, and where. */
export const webhookTable = service.table("webhook", {
  id: bigserial("id", { mode: "number" }).primaryKey(),
  chainId: integer("chain_id").notNull(),
  wallet: text("wallet").$type<Address>().notNull(),
  url: text("url").notNull(),
  events: text("events").array().notNull(),
  /** Sealed. */
  secret: text("secret").notNull(),
  previousSecret: text("previous_secret"),
  previousSecretUntil: moment("previous_secret_until"),
  fromBlock: number("from_block").notNull(),
  passedBlock: number("passed_block").notNull(),
  passedEvent: number("passed_event").notNull(),
  state: text("state", { enum: ["active", "undeliverable", "deleted"] })
    .notNull()
    .default("active"),
  position: number("position"),
  undeliverableAt: moment("undeliverable_at"),
  createdAt: moment("created_at").notNull().defaultNow(),
});

/** What happened, as subscribers are told. */
export const eventTable = service.table("event", {
  seq: bigserial("seq", { mode: "number" }).primaryKey(),
  chainId: integer("chain_id").notNull(),
  id: text("id").notNull(),
  key: text("key").notNull(),
  occurrence: integer("occurrence").notNull().default(1),
  type: text("type").$type<AnyEventType>().notNull(),
  blockNumber: number("block_number"),
  blockHash: text("block_hash").$type<Hex>(),
  txHash: text("tx_hash").$type<Hex>(),
  logIndex: integer("log_index"),
  parties: text("parties").array().notNull(),
  body: text("body").notNull(),
  reverts: number("reverts"),
  revertedAt: moment("reverted_at"),
  createdAt: moment("created_at").notNull().defaultNow(),
});

/** One event on its way to one subscription. */
export const deliveryTable = service.table("delivery", {
  id: bigserial("id", { mode: "number" }).primaryKey(),
  webhookId: number("webhook_id").notNull(),
  eventSeq: number("event_seq").notNull(),
  state: text("state", { enum: ["pending", "delivered", "undeliverable", "cancelled"] })
    .notNull()
    .default("pending"),
  test: boolean("test").notNull().default(false),
  failures: integer("failures").notNull().default(0),
  nextAttemptAt: moment("next_attempt_at").notNull().defaultNow(),
  takenAt: moment("taken_at"),
  attempts: jsonb("attempts").$type<readonly Attempt[]>().notNull().default([]),
  deliveredAt: moment("delivered_at"),
  createdAt: moment("created_at").notNull().defaultNow(),
});

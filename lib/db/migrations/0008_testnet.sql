-- Beside purchases the ledger carries errands: calls that the service makes for itself. On the testnet these are the
-- faucet's grants and the upkeep of the sandbox's wallet.

-- The sandbox's purchases are of nobody's key.
ALTER TABLE "service"."purchase" ALTER COLUMN "key_id" DROP NOT NULL;
--> statement-breakpoint
-- Relayers send purchases; the sandbox's wallet pays the premiums of its own; the faucet's gives grants away.
ALTER TABLE "service"."relayer_wallet" ADD COLUMN "role" text NOT NULL DEFAULT 'relayer'
  CHECK ("role" IN ('relayer', 'sandbox', 'faucet'));
--> statement-breakpoint
-- A claim to a grant of the faucet: both of its transfers, or nothing. Its client is an address, or the /64 of an IPv6 one.
CREATE TABLE "service"."faucet_claim" (
  "id" uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  "chain_id" integer NOT NULL,
  -- Who pays, and who is paid.
  "faucet" text NOT NULL CHECK ("faucet" ~ '^0x[0-9a-f]{40}$'),
  "wallet" text NOT NULL CHECK ("wallet" ~ '^0x[0-9a-f]{40}$'),
  "client" text NOT NULL,
  -- To the millisecond, so that what a client is told of it is true to the last digit.
  "claimed_at" timestamptz NOT NULL DEFAULT date_trunc('milliseconds', now()),
  -- Until then the call that made it waits for its outcome.
  "awaited_until" timestamptz NOT NULL,
  -- When somebody was told the outcome.
  "told_at" timestamptz,
  -- When it was found that nothing was sent and nothing can be: its slots were given back.
  "freed_at" timestamptz
);
--> statement-breakpoint
CREATE INDEX "faucet_claim_wallet" ON "service"."faucet_claim" ("chain_id", "wallet", "claimed_at");
--> statement-breakpoint
CREATE INDEX "faucet_claim_time" ON "service"."faucet_claim" ("chain_id", "claimed_at");
--> statement-breakpoint
-- What a claim takes up: its wallet and its client, until the cooldown is over. To have the row is to have the slot.
CREATE TABLE "service"."faucet_slot" (
  "chain_id" integer NOT NULL,
  "kind" text NOT NULL CHECK ("kind" IN ('wallet', 'client')),
  "subject" text NOT NULL,
  "claim_id" uuid NOT NULL REFERENCES "service"."faucet_claim" ("id"),
  "until" timestamptz NOT NULL,
  PRIMARY KEY ("chain_id", "kind", "subject")
);
--> statement-breakpoint
CREATE INDEX "faucet_slot_claim" ON "service"."faucet_slot" ("claim_id");
--> statement-breakpoint
-- How many claims a UTC day has had.
CREATE TABLE "service"."faucet_day" (
  "chain_id" integer NOT NULL,
  "day" date NOT NULL,
  "claims" integer NOT NULL CHECK ("claims" >= 0),
  PRIMARY KEY ("chain_id", "day")
);
--> statement-breakpoint
CREATE TABLE "service"."errand" (
  "id" uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  "chain_id" integer NOT NULL,
  -- The wallet that sends it.
  "sender" text NOT NULL CHECK ("sender" ~ '^0x[0-9a-f]{40}$'),
  "purpose" text NOT NULL CHECK ("purpose" IN ('faucet_ether', 'faucet_usdc', 'sandbox_ether', 'sandbox_usdc', 'sandbox_approval')),
  "claim_id" uuid REFERENCES "service"."faucet_claim" ("id"),
  "to" text NOT NULL CHECK ("to" ~ '^0x[0-9a-f]{40}$'),
  "data" text NOT NULL CHECK ("data" ~ '^0x([0-9a-f]{2})*$'),
  -- In wei.
  "value" numeric(78, 0) NOT NULL CHECK ("value" >= 0),
  "state" text NOT NULL DEFAULT 'accepted',
  "failure_code" text,
  "failure_message" text,
  "tx_hash" text CHECK ("tx_hash" ~ '^0x[0-9a-f]{64}$'),
  "block_number" bigint,
  "block_hash" text CHECK ("block_hash" ~ '^0x[0-9a-f]{64}$'),
  "created_at" timestamptz NOT NULL DEFAULT now(),
  "updated_at" timestamptz NOT NULL DEFAULT now(),
  -- When a writer may look at it again.
  "wake_at" timestamptz NOT NULL DEFAULT now(),
  -- As of a purchase: when the outcome was found to stand deep enough, or to need no block because nothing was signed.
  "final_at" timestamptz,
  CHECK (("purpose" LIKE 'faucet%') = ("claim_id" IS NOT NULL)),
  UNIQUE ("claim_id", "purpose"),
  CONSTRAINT "errand_state_evidence" CHECK (CASE "state"
    WHEN 'accepted' THEN num_nonnulls("tx_hash", "block_number", "block_hash", "failure_code", "failure_message", "final_at") = 0
    WHEN 'signed' THEN "tx_hash" IS NOT NULL AND num_nonnulls("block_number", "block_hash", "failure_code", "failure_message", "final_at") = 0
    WHEN 'broadcast' THEN "tx_hash" IS NOT NULL AND num_nonnulls("block_number", "block_hash", "failure_code", "failure_message", "final_at") = 0
    WHEN 'mined' THEN num_nulls("tx_hash", "block_number", "block_hash") = 0 AND num_nonnulls("failure_code", "failure_message", "final_at") = 0
    WHEN 'confirmed' THEN num_nulls("tx_hash", "block_number", "block_hash", "final_at") = 0 AND num_nonnulls("failure_code", "failure_message") = 0
    WHEN 'failed' THEN num_nulls("failure_code", "failure_message") = 0
      AND (num_nulls("tx_hash", "block_number", "block_hash") = 0
        OR (num_nonnulls("tx_hash", "block_number", "block_hash") = 0 AND "final_at" IS NOT NULL))
    ELSE false
  END)
);
--> statement-breakpoint
-- One errand of the upkeep at a time for each purpose and sender, however many writers see the need.
CREATE UNIQUE INDEX "errand_upkeep" ON "service"."errand" ("chain_id", "purpose", "sender")
  WHERE "claim_id" IS NULL AND "state" IN ('accepted', 'signed', 'broadcast');
--> statement-breakpoint
CREATE INDEX "errand_accepted" ON "service"."errand" ("chain_id", "sender", "wake_at") WHERE "state" = 'accepted';
--> statement-breakpoint
CREATE INDEX "errand_unconfirmed" ON "service"."errand" ("chain_id", "block_number")
  WHERE "final_at" IS NULL AND "block_number" IS NOT NULL;
--> statement-breakpoint
CREATE INDEX "errand_upkeep_last" ON "service"."errand" ("chain_id", "purpose", "created_at") WHERE "claim_id" IS NULL;
--> statement-breakpoint
CREATE INDEX "errand_sender" ON "service"."errand" ("chain_id", "sender", "created_at");
--> statement-breakpoint
ALTER TABLE "service"."transaction"
  ADD COLUMN "errand_id" uuid REFERENCES "service"."errand" ("id"),
  -- What it gives away beside its gas, in wei.
  ADD COLUMN "value" numeric(78, 0) NOT NULL DEFAULT 0,
  DROP CONSTRAINT "transaction_kind_check",
  DROP CONSTRAINT "transaction_check",
  ADD CONSTRAINT "transaction_kind" CHECK (CASE "kind"
    WHEN 'purchase' THEN "purchase_id" IS NOT NULL AND "errand_id" IS NULL
    WHEN 'errand' THEN "errand_id" IS NOT NULL AND "purchase_id" IS NULL
    WHEN 'filler' THEN num_nonnulls("purchase_id", "errand_id") = 0
    ELSE false
  END);
--> statement-breakpoint
-- At most one transaction of an errand can ever be mined.
CREATE UNIQUE INDEX "transaction_errand" ON "service"."transaction" ("errand_id") WHERE "state" <> 'lost';
--> statement-breakpoint
-- What the writer last found of the sandbox's wallet, 6 decimals and wei, whether that is enough to buy, and what keeps the
-- wallet from being kept so, if anything does.
CREATE TABLE "service"."sandbox_wallet" (
  "chain_id" integer NOT NULL,
  "wallet" text NOT NULL CHECK ("wallet" ~ '^0x[0-9a-f]{40}$'),
  "usdc" numeric(78, 0) NOT NULL,
  "allowance" numeric(78, 0) NOT NULL,
  "ether" numeric(78, 0) NOT NULL,
  "can_buy" boolean NOT NULL,
  "fault" text,
  "checked_at" timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY ("chain_id", "wallet"),
  CHECK ("can_buy" OR "fault" IS NOT NULL)
);
--> statement-breakpoint
-- As before, but for purchases of keys alone: the sandbox's wallet buys for everybody, and must not rest for somebody's.
CREATE OR REPLACE FUNCTION "service"."rests_until"(of_wallet text) RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT max(r."updated_at") + interval '1 hour' FROM (
    SELECT p."updated_at" FROM "service"."purchase" p
    WHERE p."wallet" = of_wallet AND p."state" = 'failed' AND p."tx_hash" IS NOT NULL AND p."key_id" IS NOT NULL
      AND p."updated_at" > now() - interval '2 hours'
    ORDER BY p."updated_at" DESC LIMIT 3) r
  HAVING count(*) = 3 AND max(r."updated_at") - min(r."updated_at") <= interval '1 hour'
    AND max(r."updated_at") > now() - interval '1 hour'
$$;
--> statement-breakpoint
-- Whoever waits for a claim hears of each of its transfers that came to something.
CREATE FUNCTION "service"."announce_claim"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('service_claim', NEW."claim_id"::text);
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER "errand_claim" AFTER UPDATE ON "service"."errand" FOR EACH ROW
  WHEN (NEW."claim_id" IS NOT NULL AND NEW."state" IN ('mined', 'confirmed', 'failed') AND NEW."state" <> OLD."state")
  EXECUTE FUNCTION "service"."announce_claim"();

-- The relay ledger: what is wanted (purchase), the transaction that does it (one per nonce), its signed forms (attempt),
-- and the wallets that send. The checks make a state that lies about its evidence impossible to store.
CREATE TABLE "service"."purchase" (
  "id" uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  "chain_id" integer NOT NULL,
  "wallet" text NOT NULL CHECK ("wallet" ~ '^0x[0-9a-f]{40}$'),
  "key_id" bigint NOT NULL REFERENCES "service"."api_key" ("id"),
  "idempotency_key" text CHECK (length("idempotency_key") BETWEEN 1 AND 128),
  "fingerprint" text NOT NULL,
  "product_id" text NOT NULL CHECK ("product_id" ~ '^0x[0-9a-f]{64}$'),
  "coverage_amount" numeric(78, 0) NOT NULL CHECK ("coverage_amount" > 0),
  "asset" text NOT NULL CHECK ("asset" ~ '^0x[0-9a-f]{64}$'),
  "buyer" text NOT NULL CHECK ("buyer" ~ '^0x[0-9a-f]{40}$'),
  "state" text NOT NULL DEFAULT 'accepted',
  "failure_code" text,
  "failure_message" text,
  "tx_hash" text CHECK ("tx_hash" ~ '^0x[0-9a-f]{64}$'),
  "block_number" bigint,
  "block_hash" text CHECK ("block_hash" ~ '^0x[0-9a-f]{64}$'),
  "policy_id" numeric(78, 0),
  "premium_paid" numeric(78, 0),
  "created_at" timestamptz NOT NULL DEFAULT now(),
  "updated_at" timestamptz NOT NULL DEFAULT now(),
  -- Whether an identical call without a key still joins this one: until its outcome was known for the first time.
  "joinable" boolean NOT NULL DEFAULT true,
  -- When the sweeper may wake the writer for this row again.
  "wake_at" timestamptz NOT NULL DEFAULT now() + interval '5 seconds',
  -- When the outcome was found to stand in a block deep enough, or to need none because nothing was ever signed.
  "final_at" timestamptz,
  CONSTRAINT "purchase_state_evidence" CHECK (CASE "state"
    WHEN 'accepted' THEN num_nonnulls("tx_hash", "block_number", "block_hash", "policy_id", "premium_paid", "failure_code", "failure_message", "final_at") = 0
    WHEN 'signed' THEN "tx_hash" IS NOT NULL AND num_nonnulls("block_number", "block_hash", "policy_id", "premium_paid", "failure_code", "failure_message", "final_at") = 0
    WHEN 'broadcast' THEN "tx_hash" IS NOT NULL AND num_nonnulls("block_number", "block_hash", "policy_id", "premium_paid", "failure_code", "failure_message", "final_at") = 0
    WHEN 'mined' THEN num_nulls("tx_hash", "block_number", "block_hash", "policy_id", "premium_paid") = 0 AND num_nonnulls("failure_code", "failure_message", "final_at") = 0
    WHEN 'confirmed' THEN num_nulls("tx_hash", "block_number", "block_hash", "policy_id", "premium_paid", "final_at") = 0 AND num_nonnulls("failure_code", "failure_message") = 0
    -- A failure needs proof: either nothing was ever signed, or the block in which the transaction reverted.
    WHEN 'failed' THEN num_nulls("failure_code", "failure_message") = 0 AND num_nonnulls("policy_id", "premium_paid") = 0
      AND (num_nulls("tx_hash", "block_number", "block_hash") = 0
        OR (num_nonnulls("tx_hash", "block_number", "block_hash") = 0 AND "final_at" IS NOT NULL))
    ELSE false
  END),
  CONSTRAINT "purchase_joinable" CHECK (NOT "joinable" OR NOT ("state" = 'failed' AND "tx_hash" IS NULL))
);
--> statement-breakpoint
-- One purchase per wallet and key; one that failed without a transaction has spent nothing and frees its key.
CREATE UNIQUE INDEX "purchase_idempotency" ON "service"."purchase" ("wallet", "idempotency_key")
  WHERE "idempotency_key" IS NOT NULL AND NOT ("state" = 'failed' AND "tx_hash" IS NULL);
--> statement-breakpoint
-- Without a key: one purchase per wallet and content whose outcome was never known.
CREATE UNIQUE INDEX "purchase_open_without_key" ON "service"."purchase" ("wallet", "chain_id", "fingerprint")
  WHERE "idempotency_key" IS NULL AND "joinable";
--> statement-breakpoint
CREATE INDEX "purchase_accepted" ON "service"."purchase" ("wake_at") WHERE "state" = 'accepted';
--> statement-breakpoint
CREATE INDEX "purchase_unconfirmed" ON "service"."purchase" ("chain_id", "block_number")
  WHERE "final_at" IS NULL AND "block_number" IS NOT NULL;
--> statement-breakpoint
CREATE TABLE "service"."relayer_wallet" (
  "chain_id" integer NOT NULL,
  "address" text NOT NULL CHECK ("address" ~ '^0x[0-9a-f]{40}$'),
  -- The nonce of the next new transaction; null until the chain was asked for the first time.
  "next_nonce" bigint CHECK ("next_nonce" >= 0),
  -- The writer that may sign for this wallet, until when, and a number that rises with each change of hands.
  "lease_owner" text,
  "lease_until" timestamptz NOT NULL DEFAULT '-infinity',
  "fencing_token" bigint NOT NULL DEFAULT 0,
  "heartbeat_at" timestamptz,
  PRIMARY KEY ("chain_id", "address")
);
--> statement-breakpoint
CREATE TABLE "service"."transaction" (
  "id" bigserial PRIMARY KEY,
  "chain_id" integer NOT NULL,
  "wallet" text NOT NULL,
  "nonce" bigint NOT NULL CHECK ("nonce" >= 0),
  -- A filler is an empty transfer to the wallet itself that closes a gap of nonces.
  "kind" text NOT NULL CHECK ("kind" IN ('purchase', 'filler')),
  "purchase_id" uuid REFERENCES "service"."purchase" ("id"),
  "to" text NOT NULL CHECK ("to" ~ '^0x[0-9a-f]{40}$'),
  "data" text NOT NULL CHECK ("data" ~ '^0x([0-9a-f]{2})*$'),
  "gas_limit" bigint NOT NULL CHECK ("gas_limit" > 0),
  -- open: may still be mined; mined: seen in a block; final: in a block deep enough; lost: the nonce was proven to have
  -- been taken, in such a block, by a transaction that is not ours.
  "state" text NOT NULL DEFAULT 'open' CHECK ("state" IN ('open', 'mined', 'final', 'lost')),
  "created_at" timestamptz NOT NULL DEFAULT now(),
  UNIQUE ("chain_id", "wallet", "nonce"),
  FOREIGN KEY ("chain_id", "wallet") REFERENCES "service"."relayer_wallet" ("chain_id", "address"),
  CHECK (("kind" = 'purchase') = ("purchase_id" IS NOT NULL))
);
--> statement-breakpoint
-- At most one transaction of a purchase can ever be mined.
CREATE UNIQUE INDEX "transaction_purchase" ON "service"."transaction" ("purchase_id") WHERE "state" <> 'lost';
--> statement-breakpoint
CREATE INDEX "transaction_open" ON "service"."transaction" ("chain_id", "wallet", "nonce") WHERE "state" = 'open';
--> statement-breakpoint
CREATE INDEX "transaction_filler" ON "service"."transaction" ("chain_id", "wallet", "nonce")
  WHERE "kind" = 'filler' AND "state" = 'mined';
--> statement-breakpoint
CREATE TABLE "service"."attempt" (
  "hash" text PRIMARY KEY CHECK ("hash" ~ '^0x[0-9a-f]{64}$'),
  "transaction_id" bigint NOT NULL REFERENCES "service"."transaction" ("id"),
  "signed" text NOT NULL CHECK ("signed" ~ '^0x([0-9a-f]{2})+$'),
  "max_fee" numeric(78, 0) NOT NULL,
  "priority_fee" numeric(78, 0) NOT NULL,
  -- The lease under which it was signed.
  "fencing_token" bigint NOT NULL,
  "created_at" timestamptz NOT NULL DEFAULT now(),
  "last_broadcast_at" timestamptz
);
--> statement-breakpoint
CREATE INDEX "attempt_transaction" ON "service"."attempt" ("transaction_id");

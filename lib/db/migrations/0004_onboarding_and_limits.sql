-- A buyer's leave to another wallet's keys to spend premiums of its own, up to a cap.
CREATE TABLE "service"."delegation" (
  "id" bigserial PRIMARY KEY,
  "chain_id" integer NOT NULL,
  -- The cover router that the buyer's signature names: it gives no leave to spend through another one.
  "router" text NOT NULL CHECK ("router" ~ '^0x[0-9a-f]{40}$'),
  "buyer" text NOT NULL CHECK ("buyer" ~ '^0x[0-9a-f]{40}$'),
  "agent" text NOT NULL CHECK ("agent" ~ '^0x[0-9a-f]{40}$'),
  -- USDC base units (6 decimals).
  "total_premium_cap" numeric(78, 0) NOT NULL CHECK ("total_premium_cap" > 0),
  "expires_at" timestamptz NOT NULL,
  "nonce" numeric(78, 0) NOT NULL CHECK ("nonce" >= 0),
  -- The EIP-712 digest that the buyer signed: accepted once, ever, also after a revocation.
  "digest" text NOT NULL UNIQUE CHECK ("digest" ~ '^0x[0-9a-f]{64}$'),
  "created_at" timestamptz NOT NULL DEFAULT now(),
  "revoked_at" timestamptz,
  CHECK ("buyer" <> "agent")
);
--> statement-breakpoint
CREATE INDEX "delegation_buyer" ON "service"."delegation" ("buyer", "agent");
--> statement-breakpoint
CREATE INDEX "delegation_agent" ON "service"."delegation" ("agent");
--> statement-breakpoint
-- Signatures that have made a key: each is good for one. Unix seconds, as they were signed.
CREATE TABLE "service"."onboarding_signature" (
  "wallet" text NOT NULL CHECK ("wallet" ~ '^0x[0-9a-f]{40}$'),
  "signed_at" bigint NOT NULL,
  PRIMARY KEY ("wallet", "signed_at")
);
--> statement-breakpoint
CREATE INDEX "onboarding_signature_age" ON "service"."onboarding_signature" ("signed_at");
--> statement-breakpoint
-- Counts of requests, for the limits that all api processes share; the columns are those that rate-limiter-flexible
-- writes, in its order. Not logged: a count costs no flush to disk, and what a crash of the server loses is a minute old.
CREATE UNLOGGED TABLE "service"."rate_limit" (
  "key" text PRIMARY KEY,
  "points" integer NOT NULL,
  -- Unix milliseconds.
  "expire" bigint NOT NULL
) WITH (fillfactor = 50);

-- A buyer's leave to another wallet's keys to spend premiums of its own, up to a cap.
CREATE TABLE "service"."delegation" (
  "id" bigserial PRIMARY KEY,
  "chain_id" integer NOT NULL,
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

CREATE TABLE "service"."api_key" (
  "id" bigserial PRIMARY KEY,
  "key_hash" text NOT NULL,
  "wallet" text NOT NULL CHECK ("wallet" = lower("wallet")),
  "label" text,
  "tier" text NOT NULL CHECK ("tier" IN ('free', 'paid')),
  "created_at" timestamptz NOT NULL DEFAULT now(),
  "last_used_at" timestamptz,
  "revoked_at" timestamptz
);
--> statement-breakpoint
CREATE UNIQUE INDEX "api_key_hash" ON "service"."api_key" ("key_hash");
--> statement-breakpoint
CREATE INDEX "api_key_wallet" ON "service"."api_key" ("wallet");
--> statement-breakpoint
CREATE TABLE "service"."indexer_deployment" (
  "schema_name" text PRIMARY KEY,
  "views_schema" text NOT NULL,
  "chain_id" integer NOT NULL,
  "started_at" timestamptz NOT NULL DEFAULT now()
);

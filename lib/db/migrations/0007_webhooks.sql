-- Subscriptions: which events of its wallet a subscriber is sent, and where to.
CREATE TABLE "service"."webhook" (
  "id" bigserial PRIMARY KEY,
  "chain_id" integer NOT NULL,
  "wallet" text NOT NULL CHECK ("wallet" = lower("wallet")),
  "url" text NOT NULL,
  -- Names of events, or '*' alone.
  "events" text[] NOT NULL CHECK (cardinality("events") > 0),
  -- Sealed with SECRETS_KEY. After a rotation the former secret goes on signing until its time is over.
  "secret" text NOT NULL,
  "previous_secret" text,
  "previous_secret_until" timestamptz,
  -- The chain's newest block at the creation: the events of later blocks are the subscription's.
  "from_block" bigint NOT NULL,
  -- How far the outbox was at the creation. What it finds later in a block that it had passed came by a reorganisation.
  "passed_block" bigint NOT NULL,
  "passed_event" bigint NOT NULL,
  -- Deleted: it is there for nobody any more; a chore removes its deliveries, and then the row.
  "state" text NOT NULL DEFAULT 'active' CHECK ("state" IN ('active', 'undeliverable', 'deleted')),
  -- While undeliverable: the event after which everything may have been missed.
  "position" bigint,
  "undeliverable_at" timestamptz,
  -- Until when one writer alone makes its deliveries, and which.
  "lease_until" timestamptz NOT NULL DEFAULT '-infinity',
  "lease_token" uuid,
  "created_at" timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT "webhook_secrets" CHECK (num_nonnulls("previous_secret", "previous_secret_until") IN (0, 2)),
  CONSTRAINT "webhook_state_evidence" CHECK (
    num_nonnulls("position", "undeliverable_at") = CASE "state" WHEN 'undeliverable' THEN 2 ELSE 0 END),
  CONSTRAINT "webhook_forgotten_secrets" CHECK (
    ("state" = 'deleted') = ("secret" = '') AND ("state" <> 'deleted' OR "previous_secret" IS NULL))
) WITH (fillfactor = 50);
--> statement-breakpoint
CREATE INDEX "webhook_wallet" ON "service"."webhook" ("wallet");
--> statement-breakpoint
-- Those whom everybody's burns concern too.
CREATE INDEX "webhook_burns" ON "service"."webhook" ("chain_id")
  WHERE "events" && ARRAY['*', 'token_burned'] AND "state" <> 'deleted';
--> statement-breakpoint
CREATE INDEX "webhook_deleted" ON "service"."webhook" ("id") WHERE "state" = 'deleted';
--> statement-breakpoint
-- Every event that was seen in a block deep enough, in the order in which it was: what subscribers are told.
CREATE TABLE "service"."event" (
  "seq" bigserial PRIMARY KEY,
  "chain_id" integer NOT NULL,
  -- As subscribers see it; follows from the key and the occurrence.
  "id" text NOT NULL UNIQUE,
  -- What makes it this event: block hash and log index; product and policy of an expiry; a reverted event's id.
  "key" text NOT NULL,
  -- An event whose block came back after its reversal was told happens once more.
  "occurrence" integer NOT NULL DEFAULT 1,
  "type" text NOT NULL,
  "block_number" bigint,
  "block_hash" text,
  "tx_hash" text,
  "log_index" integer,
  -- Wallets that it concerns, in lower case.
  "parties" text[] NOT NULL,
  -- The very bytes that are sent.
  "body" text NOT NULL,
  -- The event that this one takes back.
  "reverts" bigint REFERENCES "service"."event" ("seq") ON DELETE CASCADE,
  -- When its block was proven to be off the chain.
  "reverted_at" timestamptz,
  "created_at" timestamptz NOT NULL DEFAULT now(),
  UNIQUE ("chain_id", "key", "occurrence")
);
--> statement-breakpoint
CREATE INDEX "event_block" ON "service"."event" ("chain_id", "block_number");
--> statement-breakpoint
CREATE INDEX "event_parties" ON "service"."event" USING gin ("parties");
--> statement-breakpoint
-- Where a replay of what was recorded since a time begins.
CREATE INDEX "event_created" ON "service"."event" ("created_at", "seq");
--> statement-breakpoint
CREATE INDEX "event_burns" ON "service"."event" ("seq") WHERE "type" = 'token_burned';
--> statement-breakpoint
CREATE INDEX "event_reverts" ON "service"."event" ("reverts") WHERE "reverts" IS NOT NULL;
--> statement-breakpoint
-- One event on its way to one subscription.
CREATE TABLE "service"."delivery" (
  "id" bigserial PRIMARY KEY,
  "webhook_id" bigint NOT NULL REFERENCES "service"."webhook" ("id") ON DELETE CASCADE,
  "event_seq" bigint NOT NULL REFERENCES "service"."event" ("seq"),
  -- Cancelled: the event was reverted before it had arrived.
  "state" text NOT NULL DEFAULT 'pending' CHECK ("state" IN ('pending', 'delivered', 'undeliverable', 'cancelled')),
  -- A sample that its subscriber asked for: it is tried once, apart from the others.
  "test" boolean NOT NULL DEFAULT false,
  -- Failed attempts of the schedule at work.
  "failures" integer NOT NULL DEFAULT 0,
  "next_attempt_at" timestamptz NOT NULL DEFAULT now(),
  -- Since when an attempt may be under way whose outcome is not stored: after a crash nobody knows whether it was made.
  "taken_at" timestamptz,
  -- Outcomes of the attempts, oldest first.
  "attempts" jsonb NOT NULL DEFAULT '[]',
  "delivered_at" timestamptz,
  "created_at" timestamptz NOT NULL DEFAULT now(),
  UNIQUE ("webhook_id", "event_seq"),
  CONSTRAINT "delivery_evidence" CHECK ("state" <> 'delivered' OR "delivered_at" IS NOT NULL)
) WITH (fillfactor = 45);
--> statement-breakpoint
CREATE INDEX "delivery_pending" ON "service"."delivery" ("webhook_id", "event_seq") WHERE "state" = 'pending';
--> statement-breakpoint
CREATE INDEX "delivery_given_up" ON "service"."delivery" ("webhook_id", "event_seq") WHERE "state" = 'undeliverable';
--> statement-breakpoint
CREATE INDEX "delivery_test" ON "service"."delivery" ("id") WHERE "test" AND "state" = 'pending';
--> statement-breakpoint
CREATE INDEX "delivery_event" ON "service"."delivery" ("event_seq");
--> statement-breakpoint
-- For the prune alone, which finds what is old where it was written.
CREATE INDEX "delivery_created" ON "service"."delivery" USING brin ("created_at");
--> statement-breakpoint
-- How far the outbox is, by chain.
CREATE TABLE "service"."outbox" (
  "chain_id" integer PRIMARY KEY,
  -- Events of blocks up to this one are taken, and final.
  "final_block" bigint NOT NULL,
  -- Expiries up to this time (Unix seconds) are taken, and final.
  "final_time" bigint NOT NULL,
  -- The newest block whose events were taken in any pass.
  "passed_block" bigint NOT NULL,
  -- Rises with each pass that wrote: of two writers that pass at the same moment, one has to begin anew.
  "pass" bigint NOT NULL DEFAULT 0,
  "passed_at" timestamptz NOT NULL DEFAULT now()
);
--> statement-breakpoint
-- Whether a subscription may have been sent an event.
CREATE FUNCTION "service"."may_know"(w bigint, e bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (
    SELECT 1 FROM service.delivery d
    WHERE d.webhook_id = w AND d.event_seq = e AND (d.attempts <> '[]' OR d.taken_at IS NOT NULL))
$$;
--> statement-breakpoint
-- Whether an event is one of a subscription's, whatever became of its delivery. The one rule for the outbox, for what a
-- subscription has missed, and for replays. A single expression without a query in it: Postgres puts it into the statement.
CREATE FUNCTION "service"."is_for"(e "service"."event", w "service"."webhook") RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT CASE
    WHEN e.chain_id <> w.chain_id OR e.block_number IS NULL THEN false
    -- Whoever may have been told of an event is told that it is none.
    WHEN e.reverts IS NOT NULL THEN service.may_know(w.id, e.reverts)
    ELSE e.reverted_at IS NULL
      AND (w.wallet = ANY (e.parties) OR e.type = 'token_burned')
      AND w.events && ARRAY['*', e.type]
      AND (e.block_number > w.from_block OR (e.block_number <= w.passed_block AND e.seq > w.passed_event))
  END
$$;

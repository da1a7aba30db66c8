-- What a purchase may spend, and what stops it.
ALTER TABLE "service"."purchase"
  -- The premium that was quoted when it was accepted (USDC, 6 decimals): so much of the buyer's money it holds while open.
  ADD COLUMN "quoted_premium" numeric(78, 0) NOT NULL DEFAULT 0,
  -- The leave under which a key of another wallet spends the buyer's money.
  ADD COLUMN "delegation_id" bigint REFERENCES "service"."delegation" ("id");
--> statement-breakpoint
-- Replaced: an empty transfer was mined on the nonce of a purchase that had waited too long, so that it bought nothing.
ALTER TABLE "service"."purchase" DROP CONSTRAINT "purchase_state_evidence", ADD CONSTRAINT "purchase_state_evidence" CHECK (CASE "state"
    WHEN 'accepted' THEN num_nonnulls("tx_hash", "block_number", "block_hash", "policy_id", "premium_paid", "failure_code", "failure_message", "final_at") = 0
    WHEN 'signed' THEN "tx_hash" IS NOT NULL AND num_nonnulls("block_number", "block_hash", "policy_id", "premium_paid", "failure_code", "failure_message", "final_at") = 0
    WHEN 'broadcast' THEN "tx_hash" IS NOT NULL AND num_nonnulls("block_number", "block_hash", "policy_id", "premium_paid", "failure_code", "failure_message", "final_at") = 0
    WHEN 'mined' THEN num_nulls("tx_hash", "block_number", "block_hash", "policy_id", "premium_paid") = 0 AND num_nonnulls("failure_code", "failure_message", "final_at") = 0
    WHEN 'confirmed' THEN num_nulls("tx_hash", "block_number", "block_hash", "policy_id", "premium_paid", "final_at") = 0 AND num_nonnulls("failure_code", "failure_message") = 0
    WHEN 'replaced' THEN num_nulls("tx_hash", "block_number", "block_hash", "failure_code", "failure_message") = 0 AND num_nonnulls("policy_id", "premium_paid") = 0
    -- A failure needs proof: either nothing was ever signed, or the block in which the transaction reverted.
    WHEN 'failed' THEN num_nulls("failure_code", "failure_message") = 0 AND num_nonnulls("policy_id", "premium_paid") = 0
      AND (num_nulls("tx_hash", "block_number", "block_hash") = 0
        OR (num_nonnulls("tx_hash", "block_number", "block_hash") = 0 AND "final_at" IS NOT NULL))
    ELSE false
  END);
--> statement-breakpoint
-- A key is free again once it is certain that nothing was bought under it and nothing can be.
DROP INDEX "service"."purchase_idempotency";
--> statement-breakpoint
CREATE UNIQUE INDEX "purchase_idempotency" ON "service"."purchase" ("wallet", "idempotency_key")
  WHERE "idempotency_key" IS NOT NULL AND NOT ("state" = 'failed' AND "tx_hash" IS NULL)
    AND NOT ("state" = 'replaced' AND "final_at" IS NOT NULL);
--> statement-breakpoint
ALTER TABLE "service"."purchase" DROP CONSTRAINT "purchase_joinable", ADD CONSTRAINT "purchase_joinable" CHECK (NOT "joinable"
  OR NOT (("state" = 'failed' AND "tx_hash" IS NULL) OR ("state" = 'replaced' AND "final_at" IS NOT NULL)));
--> statement-breakpoint
-- A buyer's open purchases, and those of blocks above the one up to which its funds were read.
CREATE INDEX "purchase_buyer_open" ON "service"."purchase" ("buyer") WHERE "state" IN ('accepted', 'signed', 'broadcast');
--> statement-breakpoint
CREATE INDEX "purchase_buyer_bought" ON "service"."purchase" ("buyer", "block_number") WHERE "premium_paid" IS NOT NULL;
--> statement-breakpoint
CREATE INDEX "purchase_reverted" ON "service"."purchase" ("wallet", "updated_at")
  WHERE "state" = 'failed' AND "tx_hash" IS NOT NULL;
--> statement-breakpoint
ALTER TABLE "service"."transaction"
  -- Since when it waits to be mined: since it was signed, or since its block fell out of the chain.
  ADD COLUMN "opened_at" timestamptz NOT NULL DEFAULT now(),
  -- The most that its gas may cost in wei, in the dearest of its signed forms.
  ADD COLUMN "gas_reserved" numeric(78, 0) NOT NULL DEFAULT 0,
  -- What its gas has cost in wei, the L1's share included; null until it is in a block.
  ADD COLUMN "gas_cost" numeric(78, 0);
--> statement-breakpoint
CREATE INDEX "transaction_created" ON "service"."transaction" ("chain_id", "created_at");
--> statement-breakpoint
-- What gas cost in a UTC day, in wei, by the wallet whose key asked for it, and in all (''): what is in no block yet counts
-- with the most that it may cost. The triggers keep it, in the transaction of each change, so that no budget needs a sum.
CREATE TABLE "service"."gas_day" (
  "chain_id" integer NOT NULL,
  "day" date NOT NULL,
  "wallet" text NOT NULL,
  "wei" numeric(78, 0) NOT NULL,
  PRIMARY KEY ("chain_id", "day", "wallet")
);
--> statement-breakpoint
CREATE FUNCTION "service"."gas_of"(t "service"."transaction") RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN t."state" = 'lost' THEN 0 ELSE coalesce(t."gas_cost", t."gas_reserved") END
$$;
--> statement-breakpoint
-- Rows are always taken in one order, and after all others, so that no two statements wait for each other.
CREATE FUNCTION "service"."add_gas"(chains integer[], days date[], purchases uuid[], weis numeric[]) RETURNS void LANGUAGE sql AS $$
  INSERT INTO "service"."gas_day" AS g ("chain_id", "day", "wallet", "wei")
  SELECT c.chain, c.day, w."wallet", sum(c.wei)
  FROM unnest(chains, days, purchases, weis) AS c (chain, day, purchase, wei),
    LATERAL (SELECT '' AS "wallet" UNION ALL SELECT p."wallet" FROM "service"."purchase" p WHERE p."id" = c.purchase) w
  GROUP BY 1, 2, 3 HAVING sum(c.wei) <> 0 ORDER BY 1, 2, 3
  ON CONFLICT ("chain_id", "day", "wallet") DO UPDATE SET "wei" = g."wei" + excluded."wei"
$$;
--> statement-breakpoint
CREATE FUNCTION "service"."note_gas_added"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "service"."add_gas"(array_agg(n."chain_id"), array_agg((n."created_at" AT TIME ZONE 'utc')::date),
    array_agg(n."purchase_id"), array_agg("service"."gas_of"(n))) FROM "after" n;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE FUNCTION "service"."note_gas_changed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "service"."add_gas"(array_agg(n."chain_id"), array_agg((n."created_at" AT TIME ZONE 'utc')::date),
    array_agg(n."purchase_id"), array_agg("service"."gas_of"(n) - "service"."gas_of"(o)))
  FROM "after" n JOIN "before" o ON o."id" = n."id" WHERE "service"."gas_of"(n) <> "service"."gas_of"(o);
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER "transaction_gas_added" AFTER INSERT ON "service"."transaction"
  REFERENCING NEW TABLE AS "after" FOR EACH STATEMENT EXECUTE FUNCTION "service"."note_gas_added"();
--> statement-breakpoint
CREATE TRIGGER "transaction_gas_changed" AFTER UPDATE ON "service"."transaction"
  REFERENCING OLD TABLE AS "before" NEW TABLE AS "after" FOR EACH STATEMENT EXECUTE FUNCTION "service"."note_gas_changed"();
--> statement-breakpoint
ALTER TABLE "service"."attempt"
  -- In the order in which they were stored, whatever the clock says.
  ADD COLUMN "id" bigserial NOT NULL,
  -- A form that cancels is an empty transfer to the wallet itself in place of the call.
  ADD COLUMN "cancels" boolean NOT NULL DEFAULT false,
  -- Whether a node ever said that it has it.
  ADD COLUMN "taken" boolean NOT NULL DEFAULT false;
--> statement-breakpoint
-- The kill switch: nothing that a row covers is signed or sent. A wallet is a relayer's, or one whose keys buy.
CREATE TABLE "service"."stop" (
  "scope" text NOT NULL CHECK ("scope" IN ('global', 'wallet', 'key')),
  "subject" text NOT NULL,
  "reason" text NOT NULL,
  "created_at" timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY ("scope", "subject"),
  CHECK (CASE "scope" WHEN 'global' THEN "subject" = '' WHEN 'wallet' THEN "subject" ~ '^0x[0-9a-f]{40}$' ELSE "subject" ~ '^[0-9]+$' END)
);
--> statement-breakpoint
-- The block up to which the ledger has settled what is in flight.
CREATE TABLE "service"."watched_block" (
  "chain_id" integer PRIMARY KEY,
  "number" bigint NOT NULL,
  "hash" text NOT NULL,
  "seen_at" timestamptz NOT NULL DEFAULT now()
);
--> statement-breakpoint
-- What stops the purchases of a key, or of its wallet: 'global', 'wallet', 'key', or null.
CREATE FUNCTION "service"."stopped_by"(of_wallet text, of_key bigint) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT s."scope" FROM "service"."stop" s
  WHERE s."scope" = 'global' OR (s."scope" = 'wallet' AND s."subject" = of_wallet)
    OR (s."scope" = 'key' AND s."subject" = of_key::text)
  ORDER BY s."scope" LIMIT 1
$$;
--> statement-breakpoint
-- Until when a wallet rests whose purchases reverted in a block three times within an hour: each has cost the operator
-- gas. Null when it does not.
CREATE FUNCTION "service"."rests_until"(of_wallet text) RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT max(r."updated_at") + interval '1 hour' FROM (
    SELECT p."updated_at" FROM "service"."purchase" p
    WHERE p."wallet" = of_wallet AND p."state" = 'failed' AND p."tx_hash" IS NOT NULL
      AND p."updated_at" > now() - interval '2 hours'
    ORDER BY p."updated_at" DESC LIMIT 3) r
  HAVING count(*) = 3 AND max(r."updated_at") - min(r."updated_at") <= interval '1 hour'
    AND max(r."updated_at") > now() - interval '1 hour'
$$;
--> statement-breakpoint
-- The premiums that were spent under a delegation, or may still be (USDC, 6 decimals); a trigger keeps it, in the
-- transaction of each change, so that a long history costs nothing.
ALTER TABLE "service"."delegation" ADD COLUMN "premium_spent" numeric(78, 0) NOT NULL DEFAULT 0;
--> statement-breakpoint
CREATE FUNCTION "service"."premium_of"(p "service"."purchase") RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN p."premium_paid" IS NOT NULL THEN p."premium_paid"
    WHEN p."state" IN ('failed', 'replaced') AND p."final_at" IS NOT NULL THEN 0 ELSE p."quoted_premium" END
$$;
--> statement-breakpoint
CREATE FUNCTION "service"."note_premium"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  change numeric := "service"."premium_of"(NEW) - CASE TG_OP WHEN 'UPDATE' THEN "service"."premium_of"(OLD) ELSE 0 END;
BEGIN
  IF change <> 0 THEN
    UPDATE "service"."delegation" SET "premium_spent" = "premium_spent" + change WHERE "id" = NEW."delegation_id";
  END IF;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER "purchase_premium" AFTER INSERT OR UPDATE ON "service"."purchase"
  FOR EACH ROW WHEN (NEW."delegation_id" IS NOT NULL) EXECUTE FUNCTION "service"."note_premium"();

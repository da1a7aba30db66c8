-- The faucet's gate: what a claim takes up, and how it is given back.

-- A client's address is forgotten once it limits nothing any more.
ALTER TABLE "service"."faucet_claim" ALTER COLUMN "client" DROP NOT NULL;
--> statement-breakpoint
-- Fails a claim of which nothing was ever signed, and gives back its slots and its place in the day, in one transaction;
-- false, and nothing changes, when something was signed, or when it is settled already. It holds the rows of both errands
-- while it looks, so whoever signs one of them comes before it or finds it failed.
CREATE FUNCTION "service"."free_claim"(claim uuid, code text, message text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  freed "service"."faucet_claim";
BEGIN
  PERFORM 1 FROM "service"."errand" e WHERE e."claim_id" = claim ORDER BY e."id" FOR UPDATE;
  IF EXISTS (
    SELECT 1 FROM "service"."errand" e WHERE e."claim_id" = claim
      AND (e."state" <> 'accepted' OR EXISTS (SELECT 1 FROM "service"."transaction" t WHERE t."errand_id" = e."id"))
  ) THEN
    RETURN false;
  END IF;
  UPDATE "service"."faucet_claim" c SET "freed_at" = now() WHERE c."id" = claim AND c."freed_at" IS NULL
  RETURNING c.* INTO freed;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  UPDATE "service"."errand" e
  SET "state" = 'failed', "failure_code" = code, "failure_message" = message, "final_at" = now(), "updated_at" = now()
  WHERE e."claim_id" = claim;
  -- In the order in which the gate takes them, so that the two never wait for each other.
  DELETE FROM "service"."faucet_slot" s WHERE s."claim_id" = claim AND s."kind" = 'wallet';
  DELETE FROM "service"."faucet_slot" s WHERE s."claim_id" = claim AND s."kind" = 'client';
  UPDATE "service"."faucet_day" d SET "claims" = d."claims" - 1
  WHERE d."chain_id" = freed."chain_id" AND d."day" = (freed."claimed_at" AT TIME ZONE 'utc')::date;
  PERFORM pg_notify('service_claim', claim::text);
  RETURN true;
END $$;

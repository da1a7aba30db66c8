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
  RETURN true;
END $$;
--> statement-breakpoint
-- What the faucet's wallet has promised: what is in no block, and what is in one that its balance does not show yet.
CREATE INDEX "errand_promised" ON "service"."errand" ("chain_id", "sender") WHERE "state" IN ('accepted', 'signed', 'broadcast');
--> statement-breakpoint
CREATE INDEX "errand_mined" ON "service"."errand" ("chain_id", "sender", "block_number") WHERE "block_number" IS NOT NULL;
--> statement-breakpoint
-- What limits a claim now, and until when: wallet_limited, client_limited, day_full; null when nothing does.
CREATE FUNCTION "service"."faucet_limit"(of_chain integer, of_wallet text, of_client text, day_cap integer,
  OUT outcome text, OUT until timestamptz) LANGUAGE sql STABLE AS $$
  SELECT x."outcome", x."until" FROM (
    SELECT s."kind" || '_limited' AS "outcome", s."until", CASE s."kind" WHEN 'wallet' THEN 1 ELSE 2 END AS "rank"
    FROM "service"."faucet_slot" s
    WHERE s."chain_id" = of_chain AND (s."kind", s."subject") IN (('wallet', of_wallet), ('client', of_client))
      AND s."until" > now()
    UNION ALL
    SELECT 'day_full', (d."day" + 1)::timestamp AT TIME ZONE 'utc', 3 FROM "service"."faucet_day" d
    WHERE d."chain_id" = of_chain AND d."day" = (now() AT TIME ZONE 'utc')::date AND d."claims" >= day_cap) x
  ORDER BY x."rank" LIMIT 1
$$;
--> statement-breakpoint
-- The gate. It records a claim with its slots, its place in the UTC day and both of its transfers, or nothing. `funds` is
-- what the faucet has as of `funds_block`, in wei; null when it is not known, which it must be for a new claim. `gas` is
-- what one transfer may cost beside its value. The caller waits for `patience` for the outcome; until then nobody else
-- joins the claim, and afterwards its own wallet and client do, as long as nobody was told. The outcomes: claimed, joined
-- (with the claim), stopped (by the operator), wallet_limited, client_limited, day_full (until when), funds_unknown,
-- out_of_eth.
CREATE FUNCTION "service"."claim_faucet"(
  of_chain integer, of_faucet text, of_wallet text, of_client text, token text, mint text, wei numeric, gas numeric,
  cooldown interval, day_cap integer, patience interval, funds_block bigint, funds numeric,
  OUT outcome text, OUT claim_id uuid, OUT until timestamptz
) LANGUAGE plpgsql AS $$
DECLARE
  promised numeric;
BEGIN
  -- What limits a claim can come and end between two statements; it then takes another round.
  FOR round IN 1..10 LOOP
    UPDATE "service"."faucet_claim" c SET "awaited_until" = now() + patience
    WHERE c."id" = (SELECT s."claim_id" FROM "service"."faucet_slot" s
        WHERE s."chain_id" = of_chain AND s."kind" = 'wallet' AND s."subject" = of_wallet AND s."until" > now())
      AND c."client" = of_client AND c."told_at" IS NULL AND c."freed_at" IS NULL AND c."awaited_until" <= now()
    RETURNING c."id" INTO claim_id;
    IF FOUND THEN
      outcome := 'joined';
      RETURN;
    END IF;
    IF "service"."stopped_by"(of_faucet, NULL) IS NOT NULL THEN
      outcome := 'stopped';
      RETURN;
    END IF;
    -- A look that takes nothing: however many calls are refused, they write nothing.
    SELECT x."outcome", x."until" INTO outcome, until
    FROM "service"."faucet_limit"(of_chain, of_wallet, of_client, day_cap) x;
    IF outcome IS NOT NULL THEN
      RETURN;
    END IF;
    IF funds IS NULL THEN
      outcome := 'funds_unknown';
      RETURN;
    END IF;

    -- Whatever is refused from here on gives back all that was taken.
    BEGIN
      INSERT INTO "service"."faucet_claim" AS c ("chain_id", "faucet", "wallet", "client", "awaited_until")
      VALUES (of_chain, of_faucet, of_wallet, of_client, now() + patience)
      RETURNING c."id", c."claimed_at" + cooldown INTO claim_id, until;
      -- Always the wallet first, then the client, then the day: no two claims wait for each other.
      INSERT INTO "service"."faucet_slot" AS s ("chain_id", "kind", "subject", "claim_id", "until")
      VALUES (of_chain, 'wallet', of_wallet, claim_id, until)
      ON CONFLICT ("chain_id", "kind", "subject") DO UPDATE SET "claim_id" = excluded."claim_id", "until" = excluded."until"
      WHERE s."until" <= now();
      IF NOT FOUND THEN
        RAISE SQLSTATE 'SF001';
      END IF;
      INSERT INTO "service"."faucet_slot" AS s ("chain_id", "kind", "subject", "claim_id", "until")
      VALUES (of_chain, 'client', of_client, claim_id, until)
      ON CONFLICT ("chain_id", "kind", "subject") DO UPDATE SET "claim_id" = excluded."claim_id", "until" = excluded."until"
      WHERE s."until" <= now();
      IF NOT FOUND THEN
        RAISE SQLSTATE 'SF001';
      END IF;
      INSERT INTO "service"."faucet_day" AS d ("chain_id", "day", "claims")
      VALUES (of_chain, (now() AT TIME ZONE 'utc')::date, 1)
      ON CONFLICT ("chain_id", "day") DO UPDATE SET "claims" = d."claims" + 1 WHERE d."claims" < day_cap;
      IF NOT FOUND THEN
        RAISE SQLSTATE 'SF001';
      END IF;

      -- Promises are made one after the other, so that together they stay within what the faucet has.
      PERFORM pg_advisory_xact_lock(hashtextextended(format('service:faucet:%s:%s', of_chain, of_faucet), 0));
      SELECT coalesce(sum(e."value" + gas), 0) INTO promised FROM "service"."errand" e
      WHERE e."chain_id" = of_chain AND e."sender" = of_faucet
        AND (e."state" IN ('accepted', 'signed', 'broadcast') OR e."block_number" > funds_block);
      IF promised + wei + 2 * gas > funds THEN
        outcome := 'out_of_eth';
        RAISE SQLSTATE 'SF001';
      END IF;
      INSERT INTO "service"."errand" ("chain_id", "sender", "purpose", "claim_id", "to", "data", "value")
      VALUES (of_chain, of_faucet, 'faucet_ether', claim_id, of_wallet, '0x', wei),
        (of_chain, of_faucet, 'faucet_usdc', claim_id, token, mint, 0);
      outcome := 'claimed';
      RETURN;
    EXCEPTION WHEN SQLSTATE 'SF001' THEN
      claim_id := NULL;
      until := NULL;
      IF outcome IS NOT NULL THEN
        RETURN;
      END IF;
    END;
  END LOOP;
  RAISE EXCEPTION 'the limits of a claim came and went ten times in a row';
END $$;

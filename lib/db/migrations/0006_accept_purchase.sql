-- How a purchase is recorded: one statement that takes the buyer's lock and looks anew at everything after it, so that
-- any number of calls at once, in any number of processes, stay within what one alone might do.

-- Lets everything that decides over a buyer's money take turns, until the transaction ends.
CREATE FUNCTION "service"."lock_buyer"(of_chain integer, of_buyer text) RETURNS void LANGUAGE sql AS $$
  SELECT pg_advisory_xact_lock(hashtextextended(format('service:buyer:%s:%s', of_chain, of_buyer), 0))
$$;
--> statement-breakpoint
-- What stands in the way of a new purchase: the one of the same key, or, without a key, the one of the same content whose
-- outcome is open or was told to nobody. A purchase that ended without having bought anything, and certainly cannot any
-- more, no longer holds its key; an outcome that nobody has asked for in ten minutes is nobody's any more.
CREATE FUNCTION "service"."standing_purchase"(of_chain integer, of_wallet text, of_key text, of_fingerprint text)
RETURNS SETOF "service"."purchase" LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF of_key IS NOT NULL THEN
    RETURN QUERY SELECT p.* FROM "service"."purchase" p
      WHERE p."wallet" = of_wallet AND p."idempotency_key" = of_key
        AND NOT (p."state" = 'failed' AND p."tx_hash" IS NULL)
        AND NOT (p."state" = 'replaced' AND p."final_at" IS NOT NULL);
  ELSE
    RETURN QUERY SELECT p.* FROM "service"."purchase" p
      WHERE p."wallet" = of_wallet AND p."chain_id" = of_chain AND p."fingerprint" = of_fingerprint
        AND p."idempotency_key" IS NULL AND p."joinable"
        AND NOT ((p."state" = 'mined' OR p."final_at" IS NOT NULL) AND p."updated_at" < now() - interval '10 minutes');
  END IF;
END $$;
--> statement-breakpoint
-- A delegation of the buyer to the agent that is in force: of those with room for the premium the one that expires first,
-- else the one with most room; and what is left of it.
CREATE FUNCTION "service"."delegation_in_force"(of_chain integer, of_router text, of_buyer text, of_agent text, of_premium numeric)
RETURNS TABLE ("id" bigint, "premium_left" numeric) LANGUAGE sql STABLE AS $$
  SELECT d."id", d."premium_left" FROM (
    SELECT x."id", x."expires_at", x."total_premium_cap" - x."premium_spent" AS "premium_left"
    FROM "service"."delegation" x
    WHERE x."chain_id" = of_chain AND x."router" = of_router AND x."buyer" = of_buyer AND x."agent" = of_agent
      AND x."revoked_at" IS NULL AND x."expires_at" > now()) d
  ORDER BY d."premium_left" >= of_premium DESC, CASE WHEN d."premium_left" >= of_premium THEN d."expires_at" END,
    d."premium_left" DESC LIMIT 1
$$;
--> statement-breakpoint
-- Records a purchase, or says what stands in its way and nothing is recorded. `funds` is what the buyer can pay as of
-- `funds_block`, a block up to which the ledger has settled; null when it is not known, which it must be for a buyer with
-- other purchases on their way. The outcomes: created, joined (with the purchase), conflict, stopped (scope), resting
-- (amount: seconds), not_delegated (amount: premium left, or null), funds_unknown, short_of_funds (amount: premiums held).
CREATE FUNCTION "service"."accept_purchase"(
  of_chain integer, of_router text, of_wallet text, of_key_id bigint, of_key text, of_fingerprint text, of_product text,
  of_coverage numeric, of_asset text, of_buyer text, of_premium numeric, funds_block bigint, funds numeric,
  OUT outcome text, OUT purchase_id uuid, OUT accepted_at timestamptz, OUT scope text, OUT amount numeric
) LANGUAGE plpgsql AS $$
DECLARE
  standing "service"."purchase";
  leave_id bigint;
  on_their_way integer;
BEGIN
  PERFORM "service"."lock_buyer"(of_chain, of_buyer);
  -- A purchase of the same key can come and end between two statements; it then takes another round.
  FOR round IN 1..10 LOOP
    SELECT * INTO standing FROM "service"."standing_purchase"(of_chain, of_wallet, of_key, of_fingerprint);
    IF FOUND THEN
      outcome := CASE WHEN standing."fingerprint" = of_fingerprint THEN 'joined' ELSE 'conflict' END;
      purchase_id := standing."id";
      RETURN;
    END IF;

    scope := "service"."stopped_by"(of_wallet, of_key_id);
    IF scope IS NOT NULL THEN
      outcome := 'stopped';
      RETURN;
    END IF;
    amount := ceil(extract(epoch FROM "service"."rests_until"(of_wallet) - now()));
    IF amount IS NOT NULL THEN
      outcome := 'resting';
      RETURN;
    END IF;
    IF of_wallet <> of_buyer THEN
      SELECT d."id", d."premium_left" INTO leave_id, amount
      FROM "service"."delegation_in_force"(of_chain, of_router, of_buyer, of_wallet, of_premium) d;
      IF leave_id IS NULL OR amount < of_premium THEN
        outcome := 'not_delegated';
        RETURN;
      END IF;
    END IF;
    -- The block's state shows what was bought up to it, and nothing of what was bought later or may still be.
    SELECT coalesce(sum(x."premium"), 0), count(*) INTO amount, on_their_way FROM (
      SELECT p."quoted_premium" AS "premium" FROM "service"."purchase" p
      WHERE p."buyer" = of_buyer AND p."chain_id" = of_chain AND p."state" IN ('accepted', 'signed', 'broadcast')
      UNION ALL
      SELECT p."premium_paid" FROM "service"."purchase" p
      WHERE p."buyer" = of_buyer AND p."chain_id" = of_chain AND p."premium_paid" IS NOT NULL
        AND p."block_number" > funds_block) x;
    IF on_their_way > 0 AND (funds IS NULL OR amount + of_premium > funds) THEN
      outcome := CASE WHEN funds IS NULL THEN 'funds_unknown' ELSE 'short_of_funds' END;
      RETURN;
    END IF;

    IF of_key IS NULL THEN
      UPDATE "service"."purchase" p SET "joinable" = false
      WHERE p."wallet" = of_wallet AND p."chain_id" = of_chain AND p."fingerprint" = of_fingerprint
        AND p."idempotency_key" IS NULL AND p."joinable"
        AND (p."state" = 'mined' OR p."final_at" IS NOT NULL) AND p."updated_at" < now() - interval '10 minutes';
    END IF;
    INSERT INTO "service"."purchase" AS p (
      "chain_id", "wallet", "key_id", "idempotency_key", "fingerprint", "product_id", "coverage_amount", "asset", "buyer",
      "quoted_premium", "delegation_id")
    VALUES (of_chain, of_wallet, of_key_id, of_key, of_fingerprint, of_product, of_coverage, of_asset, of_buyer, of_premium,
      leave_id)
    ON CONFLICT DO NOTHING RETURNING p."id", p."created_at" INTO purchase_id, accepted_at;
    IF FOUND THEN
      outcome := 'created';
      RETURN;
    END IF;
  END LOOP;
  RAISE EXCEPTION 'a purchase of the same key came and went ten times in a row';
END $$;

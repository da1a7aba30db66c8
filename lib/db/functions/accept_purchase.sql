-- Records a purchase, or records nothing and returns the reason. It locks the buyer, and a key with a daily limit, before it reads
-- anything, so that any number of concurrent calls, in any number of processes, stay within the limits of a single one.
-- `funds` is what the buyer can pay as of `funds_block`, a block up to which the ledger is settled. It may be null (unknown)
-- only while the buyer has no other purchase in flight. The outcomes: created, joined (with the purchase), conflict,
-- stopped (scope), limited (scope and amount: see service.limited_by), resting (amount: seconds), not_delegated (amount: premium left, or null), permit_in_flight, funds_unknown,
-- short_of_funds (amount: premiums in flight). With a permit, `funds` has the allowance after it. `held` and `in_flight` are the
-- premiums and the number of the buyer's other purchases in flight; null: they are read. A caller passes the result on to the
-- same buyer's next purchase.
CREATE OR REPLACE FUNCTION service.accept_purchase(
  of_chain integer, of_router text, of_wallet text, of_key_id bigint, of_key text, of_fingerprint text, of_product text,
  of_coverage numeric, of_asset text, of_buyer text, of_premium numeric, permit_value numeric, permit_deadline numeric,
  permit_signature text, funds_block bigint, funds numeric,
  INOUT held numeric, INOUT in_flight integer,
  OUT outcome text, OUT purchase_id uuid, OUT accepted_at timestamptz, OUT scope text, OUT amount numeric
) LANGUAGE plpgsql AS $$
DECLARE
  existing record;
  found_delegation bigint;
  has_day boolean := EXISTS (
    SELECT FROM service.api_key k WHERE k.id = of_key_id AND k.max_premium_per_day IS NOT NULL);
BEGIN
  PERFORM service.lock_buyer(of_chain, of_buyer);
  IF has_day THEN
    PERFORM service.lock_key(of_key_id);
  END IF;
  -- A purchase with the same key, of another buyer, can appear and end between two statements; then the loop starts again.
  FOR round IN 1..10 LOOP
    SELECT * INTO existing FROM service.standing_purchase(of_chain, of_wallet, of_key, of_fingerprint);
    IF FOUND THEN
      outcome := CASE WHEN existing.fingerprint = of_fingerprint THEN 'joined' ELSE 'conflict' END;
      purchase_id := existing.id;
      RETURN;
    END IF;

    scope := service.stopped_by(of_wallet, of_key_id);
    IF scope IS NOT NULL THEN
      outcome := 'stopped';
      RETURN;
    END IF;
    SELECT l.reached, l.amount INTO scope, amount FROM service.limited_by(of_key_id, of_product, of_premium) l;
    IF scope IS NOT NULL THEN
      outcome := 'limited';
      RETURN;
    END IF;
    amount := ceil(extract(epoch FROM service.rests_until(of_wallet) - now()));
    IF amount IS NOT NULL THEN
      outcome := 'resting';
      RETURN;
    END IF;
    IF of_wallet <> of_buyer THEN
      SELECT d.id, d.premium_left INTO found_delegation, amount
      FROM service.delegation_in_force(of_chain, of_router, of_buyer, of_wallet, of_premium) d;
      IF found_delegation IS NULL OR amount < of_premium THEN
        outcome := 'not_delegated';
        RETURN;
      END IF;
    END IF;
    IF permit_value IS NOT NULL AND service.has_permit_in_flight(of_chain, of_buyer) THEN
      outcome := 'permit_in_flight';
      RETURN;
    END IF;
    IF held IS NULL THEN
      SELECT b.held, b.in_flight INTO held, in_flight FROM service.bought_by(of_chain, of_buyer, funds_block) b;
    END IF;
    IF in_flight > 0 AND (funds IS NULL OR held + of_premium > funds) THEN
      amount := held;
      outcome := CASE WHEN funds IS NULL THEN 'funds_unknown' ELSE 'short_of_funds' END;
      RETURN;
    END IF;

    IF of_key IS NULL THEN
      UPDATE service.purchase p SET standing = false
      WHERE p.wallet = of_wallet AND p.chain_id = of_chain AND p.fingerprint = of_fingerprint
        AND p.idempotency_key IS NULL AND p.standing AND service.is_outcome_old(p.id);
    END IF;
    INSERT INTO service.purchase AS p (
      chain_id, wallet, key_id, idempotency_key, fingerprint, product_id, coverage_amount, asset, buyer,
      quoted_premium, delegation_id)
    VALUES (of_chain, of_wallet, of_key_id, of_key, of_fingerprint, of_product, of_coverage, of_asset, of_buyer, of_premium,
      found_delegation)
    ON CONFLICT DO NOTHING RETURNING p.id, p.created_at INTO purchase_id, accepted_at;
    IF FOUND THEN
      IF permit_value IS NOT NULL THEN
        INSERT INTO service.permit (purchase_id, value, deadline, signature)
        VALUES (purchase_id, permit_value, permit_deadline, permit_signature);
      END IF;
      IF has_day THEN
        INSERT INTO service.key_premium (purchase_id, key_id, day, premium)
        VALUES (purchase_id, of_key_id, (now() AT TIME ZONE 'utc')::date, of_premium);
      END IF;
      outcome := 'created';
      held := held + of_premium;
      in_flight := in_flight + 1;
      RETURN;
    END IF;
  END LOOP;
  RAISE EXCEPTION 'a purchase with the same key appeared and ended ten times in a row';
END $$;

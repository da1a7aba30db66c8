-- A key may be revoked after a request with it has begun. Its purchases are refused where they are recorded.
-- Otherwise as before.
CREATE OR REPLACE FUNCTION service.accept_purchases(purchases json) RETURNS TABLE (
  n integer, outcome text, purchase_id uuid, accepted_at timestamptz, scope text, amount numeric
) LANGUAGE plpgsql AS $$
DECLARE
  w record;
  answered integer[] := '{}';
  -- Chain, buyer and block of the purchase before.
  previous text;
  held numeric;
  in_flight integer;
BEGIN
  PERFORM service.lock_buyer(b.chain_id, b.buyer)
  FROM (SELECT DISTINCT x.buyer, x.chain_id FROM service.wanted_purchases(purchases) x ORDER BY 1, 2) b;
  PERFORM service.lock_key(l.id) FROM (
    SELECT k.id FROM service.api_key k
    WHERE k.id IN (SELECT x.key_id FROM service.wanted_purchases(purchases) x) AND k.max_premium_per_day IS NOT NULL
    ORDER BY k.id) l;

  outcome := 'revoked';
  FOR n IN SELECT x.n FROM service.wanted_purchases(purchases) x JOIN service.api_key k ON k.id = x.key_id
    WHERE k.revoked_at IS NOT NULL LOOP
    answered := answered || n;
    RETURN NEXT;
  END LOOP;

  outcome := 'created';
  FOR n, purchase_id, accepted_at IN
    WITH wanted AS MATERIALIZED (SELECT * FROM service.wanted_purchases(purchases) x WHERE x.n <> ALL (answered)),
    -- The lowest block and funds of several are the strictest.
    plain AS (
      SELECT x.chain_id, x.buyer, count(*) AS number, sum(x.premium) AS premium, min(x.funds_block) AS funds_block,
        CASE WHEN bool_and(x.funds IS NOT NULL) THEN min(x.funds) END AS funds
      FROM wanted x LEFT JOIN service.api_key k ON k.id = x.key_id GROUP BY 1, 2
      HAVING bool_and(x.wallet = x.buyer AND x.idempotency_key IS NOT NULL AND x.permit_value IS NULL AND k.limited IS NOT true)
        AND count(DISTINCT x.idempotency_key) = count(*)),
    able AS MATERIALIZED (
      SELECT b.chain_id, b.buyer FROM plain b CROSS JOIN LATERAL service.bought_by(b.chain_id, b.buyer, b.funds_block) f
      WHERE service.rests_until(b.buyer) IS NULL
        AND (f.in_flight = 0 AND b.number = 1 OR f.held + b.premium <= b.funds)),
    created AS (
      INSERT INTO service.purchase AS p (
        chain_id, wallet, key_id, idempotency_key, fingerprint, product_id, coverage_amount, asset, buyer, quoted_premium)
      SELECT x.chain_id, x.wallet, x.key_id, x.idempotency_key, x.fingerprint, x.product_id, x.coverage, x.asset, x.buyer, x.premium
      FROM wanted x JOIN able b ON b.chain_id = x.chain_id AND b.buyer = x.buyer
      WHERE service.stopped_by(x.wallet, x.key_id) IS NULL AND NOT EXISTS (
        SELECT FROM service.standing_purchase(x.chain_id, x.wallet, x.idempotency_key, x.fingerprint))
      ON CONFLICT DO NOTHING RETURNING p.id, p.created_at, p.chain_id, p.buyer, p.idempotency_key)
    -- A plain purchase is for its own wallet. One for another buyer may have the same idempotency key, and is another purchase.
    SELECT x.n, c.id, c.created_at FROM created c JOIN wanted x ON x.chain_id = c.chain_id AND x.buyer = c.buyer
      AND x.wallet = c.buyer AND x.idempotency_key = c.idempotency_key
  LOOP
    answered := answered || n;
    RETURN NEXT;
  END LOOP;

  FOR w IN SELECT * FROM service.wanted_purchases(purchases) x WHERE x.n <> ALL (answered) LOOP
    IF previous IS DISTINCT FROM concat_ws(' ', w.chain_id, w.buyer, w.funds_block) THEN
      previous := concat_ws(' ', w.chain_id, w.buyer, w.funds_block);
      held := NULL;
    END IF;
    n := w.n;
    SELECT a.outcome, a.purchase_id, a.accepted_at, a.scope, a.amount, a.held, a.in_flight
    INTO outcome, purchase_id, accepted_at, scope, amount, held, in_flight
    FROM service.accept_purchase(w.chain_id, w.router, w.wallet, w.key_id, w.idempotency_key, w.fingerprint, w.product_id,
      w.coverage, w.asset, w.buyer, w.premium,
      w.permit_value, w.permit_deadline, w.permit_signature, w.funds_block, w.funds, held, in_flight) a;
    RETURN NEXT;
  END LOOP;
END $$;
--> statement-breakpoint
-- A refused purchase without any transaction has cost nothing and holds no key, and anybody can make any number of them: it is
-- deleted instead of archived. Otherwise as before.
CREATE OR REPLACE FUNCTION service.archive_purchases(of_chain integer, before timestamptz, batch integer) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
  mined uuid[];
  refused uuid[];
  unsigned uuid[];
  ids uuid[];
  sent bigint[];
BEGIN
  IF EXISTS (SELECT FROM service.relayer_wallet w WHERE w.chain_id = of_chain AND w.unknown_from IS NOT NULL) THEN
    RETURN 0;
  END IF;
  -- A wallet's nonces are final in their order: only the lowest are looked at.
  SELECT array_agg(locked.id) INTO mined FROM (
    SELECT p.id FROM service.relayer_wallet w CROSS JOIN LATERAL (
        SELECT x.id FROM service.transaction x
        WHERE x.chain_id = w.chain_id AND x.wallet = w.address AND x.nonce < w.final_below AND x.kind = 'purchase'
          AND x.lost_to IS NULL
        ORDER BY x.nonce LIMIT batch) lowest
      JOIN service.transaction t ON t.id = lowest.id JOIN service.purchase p ON p.id = t.intent
    WHERE w.chain_id = of_chain AND t.final_at < before AND NOT service.has_watched_permit(p.id)
    LIMIT batch FOR UPDATE OF t, p SKIP LOCKED) locked;
  SELECT array_agg(locked.id) INTO refused FROM (
    SELECT p.id FROM service.purchase p
    WHERE p.chain_id = of_chain AND p.refused_at < before AND NOT service.has_watched_permit(p.id)
    ORDER BY p.refused_at LIMIT batch FOR UPDATE SKIP LOCKED) locked;
  ids := mined || refused;
  IF ids IS NULL THEN
    RETURN 0;
  END IF;
  SELECT array_agg(u.id) INTO unsigned FROM unnest(refused) u (id)
  WHERE NOT EXISTS (SELECT FROM service.transactions_of(service.intents_of(u.id)));
  -- The view has the table's columns, in the same order.
  INSERT INTO service.archived_purchase
    SELECT p.*, service.transaction_history(p.id) FROM service.purchase_progress p
    WHERE p.id = ANY (ids) AND p.id <> ALL (coalesce(unsigned, '{}'));
  SELECT array_agg(t.id) INTO sent FROM service.transactions_of((
    SELECT array_agg(intent) FROM unnest(ids) purchase (id), unnest(service.intents_of(purchase.id)) intent)) t;
  DELETE FROM service.attempt a WHERE a.transaction_id = ANY (sent);
  DELETE FROM service.transaction t WHERE t.id = ANY (sent);
  DELETE FROM service.purchase p WHERE p.id = ANY (ids);
  RETURN cardinality(ids);
END $$;

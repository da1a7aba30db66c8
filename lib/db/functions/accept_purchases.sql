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

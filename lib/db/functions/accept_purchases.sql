-- Records purchases, or records nothing and returns the reason, one row for each. It locks the buyers, then the keys with a daily
-- limit, before it reads anything, so that any number of concurrent calls, in any number of processes, stay within the limits of a
-- single one. `funds` is what the buyer can pay as of `funds_block`, a block up to which the ledger is settled; with a permit, it
-- has the allowance after it. It may be null (unknown) only while the buyer has no other purchase in flight.
--
-- The outcomes: created, joined (with the purchase), conflict, revoked, stopped (scope), limited (scope and amount: see
-- service.limited_by), paused (amount: seconds), not_delegated (amount: premium left, or null), permit_in_flight, funds_unknown,
-- short_of_funds (amount: premiums in flight).
--
-- Each turn of the loop judges, in one statement, the purchases that do not depend on each other's outcome: mostly all of them.
CREATE OR REPLACE FUNCTION service.accept_purchases(purchases json) RETURNS TABLE (
  n integer, outcome text, purchase_id uuid, accepted_at timestamptz, scope text, amount numeric
) LANGUAGE plpgsql AS $$
DECLARE
  judged integer[] := '{}';
  judged_before integer := -1;
  fruitless integer := 0;
BEGIN
  PERFORM service.lock_buyer(b.chain_id, b.buyer)
  FROM (SELECT DISTINCT x.buyer, x.chain_id FROM service.wanted_purchases(purchases) x ORDER BY 1, 2) b;
  PERFORM service.lock_key(l.id) FROM (
    SELECT k.id FROM service.api_key k
    WHERE k.id IN (SELECT x.key_id FROM service.wanted_purchases(purchases) x) AND k.max_premium_per_day IS NOT NULL
    ORDER BY k.id) l;

  WHILE cardinality(judged) < json_array_length(purchases) LOOP
    -- A purchase with the same key, of another buyer, can appear and end between two turns.
    fruitless := CASE WHEN cardinality(judged) > judged_before THEN 0 ELSE fruitless + 1 END;
    IF fruitless = 10 THEN
      RAISE EXCEPTION 'a purchase with the same key appeared and ended ten times in a row';
    END IF;
    judged_before := cardinality(judged);
    FOR n, outcome, purchase_id, accepted_at, scope, amount IN
      WITH wanted AS MATERIALIZED (
        SELECT x.*, k.revoked_at, k.limited, k.max_premium_per_day IS NOT NULL AS has_day,
          -- One at a time: those with one idempotency key or content, those of a key with a daily limit, and of one buyer those
          -- with a permit or under a delegation.
          1 = row_number() OVER (PARTITION BY x.wallet, x.idempotency_key,
            CASE WHEN x.idempotency_key IS NULL THEN x.fingerprint END ORDER BY x.n)
          AND 1 = row_number() OVER (PARTITION BY CASE WHEN k.max_premium_per_day IS NULL THEN -x.n ELSE k.id END ORDER BY x.n)
          AND 1 = row_number() OVER (PARTITION BY
            CASE WHEN x.wallet <> x.buyer OR x.permit_value IS NOT NULL THEN x.buyer ELSE x.n::text END ORDER BY x.n) AS is_first
        FROM service.wanted_purchases(purchases) x LEFT JOIN service.api_key k ON k.id = x.key_id
        WHERE x.n <> ALL (judged)),
      turn AS MATERIALIZED (
        -- `earlier`: those of the same buyer that come before in this turn.
        SELECT w.*, coalesce(sum(w.premium) OVER earlier, 0) AS earlier_premium, count(*) OVER earlier AS earlier_number
        FROM (SELECT x.*, bool_and(x.is_first) OVER (PARTITION BY x.chain_id, x.buyer ORDER BY x.n) AS is_free FROM wanted x) w
        WHERE w.is_free
        WINDOW earlier AS (PARTITION BY w.chain_id, w.buyer ORDER BY w.n ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)),
      bought AS MATERIALIZED (
        SELECT b.*, f.held, f.in_flight FROM (SELECT DISTINCT t.chain_id, t.buyer, t.funds_block FROM turn t) b
        CROSS JOIN LATERAL service.bought_by(b.chain_id, b.buyer, b.funds_block) f),
      checked AS (
        SELECT t.*, e.id AS existing, s.stopped, s.pause, l.reached, l.amount AS limit_left, d.id AS delegation_id, d.premium_left,
          b.held,
          CASE
            WHEN t.revoked_at IS NOT NULL THEN 'revoked'
            WHEN e.fingerprint = t.fingerprint THEN 'joined'
            WHEN e.id IS NOT NULL THEN 'conflict'
            WHEN s.stopped IS NOT NULL THEN 'stopped'
            WHEN l.reached IS NOT NULL THEN 'limited'
            WHEN s.pause IS NOT NULL THEN 'paused'
            WHEN t.wallet <> t.buyer AND coalesce(d.premium_left < t.premium, true) THEN 'not_delegated'
            WHEN t.permit_value IS NOT NULL AND service.has_permit_in_flight(t.chain_id, t.buyer) THEN 'permit_in_flight'
            WHEN b.in_flight + t.earlier_number = 0 OR b.held + t.earlier_premium + t.premium <= t.funds THEN 'created'
            WHEN b.in_flight > 0 AND t.funds IS NULL THEN 'funds_unknown'
            WHEN b.in_flight > 0 AND b.held + t.premium > t.funds THEN 'short_of_funds'
            -- Null: some of the earlier ones may be refused, and the next turn tells.
          END AS outcome
        FROM turn t
        JOIN bought b ON b.chain_id = t.chain_id AND b.buyer = t.buyer AND b.funds_block IS NOT DISTINCT FROM t.funds_block
        CROSS JOIN LATERAL (SELECT service.stopped_by(t.wallet, t.key_id) AS stopped,
          ceil(extract(epoch FROM service.paused_until(t.buyer) - now())) AS pause) s
        LEFT JOIN LATERAL service.existing_purchase(t.chain_id, t.wallet, t.idempotency_key, t.fingerprint) e ON true
        LEFT JOIN LATERAL service.limited_by(t.key_id, t.product_id, t.premium) l ON t.limited
        LEFT JOIN LATERAL service.delegation_in_force(t.chain_id, t.router, t.buyer, t.wallet, t.premium) d ON t.wallet <> t.buyer),
      verdict AS MATERIALIZED (
        SELECT * FROM (
          SELECT c.*, bool_and(c.outcome IS NOT NULL) OVER (PARTITION BY c.chain_id, c.buyer ORDER BY c.n) AS is_certain
          FROM checked c) v
        WHERE v.is_certain),
      ended AS (
        UPDATE service.purchase p SET answers_repeats = false FROM verdict v
        WHERE v.outcome = 'created' AND v.idempotency_key IS NULL AND p.wallet = v.wallet AND p.chain_id = v.chain_id
          AND p.fingerprint = v.fingerprint AND p.idempotency_key IS NULL AND p.answers_repeats AND service.is_outcome_old(p.id)
        RETURNING 1),
      created AS (
        INSERT INTO service.purchase AS p (
          chain_id, wallet, key_id, idempotency_key, fingerprint, product_id, coverage_amount, asset, buyer, quoted_premium,
          delegation_id)
        SELECT v.chain_id, v.wallet, v.key_id, v.idempotency_key, v.fingerprint, v.product_id, v.coverage, v.asset, v.buyer,
          v.premium, v.delegation_id
        -- The count runs the update first.
        FROM verdict v WHERE v.outcome = 'created' AND (SELECT count(*) FROM ended) >= 0
        -- Concurrent calls for other buyers meet the same keys in the same order.
        ORDER BY v.wallet, v.idempotency_key
        ON CONFLICT DO NOTHING RETURNING p.id, p.created_at, p.wallet, p.idempotency_key, p.fingerprint),
      answer AS MATERIALIZED (
        SELECT v.*, c.id AS created, c.created_at FROM verdict v
        LEFT JOIN created c ON v.outcome = 'created' AND c.wallet = v.wallet AND c.fingerprint = v.fingerprint
          AND c.idempotency_key IS NOT DISTINCT FROM v.idempotency_key),
      permits AS (
        INSERT INTO service.permit (purchase_id, value, deadline, signature)
        SELECT a.created, a.permit_value, a.permit_deadline, a.permit_signature
        FROM answer a WHERE a.created IS NOT NULL AND a.permit_value IS NOT NULL),
      premiums AS (
        INSERT INTO service.key_premium (purchase_id, key_id, day, premium)
        SELECT a.created, a.key_id, (now() AT TIME ZONE 'utc')::date, a.premium
        FROM answer a WHERE a.created IS NOT NULL AND a.has_day)
      SELECT a.n, a.outcome, coalesce(a.created, a.existing), a.created_at,
        CASE a.outcome WHEN 'stopped' THEN a.stopped WHEN 'limited' THEN a.reached END,
        CASE a.outcome WHEN 'limited' THEN a.limit_left WHEN 'paused' THEN a.pause WHEN 'not_delegated' THEN a.premium_left
          WHEN 'short_of_funds' THEN a.held END
      FROM answer a WHERE a.outcome <> 'created' OR a.created IS NOT NULL ORDER BY a.n
    LOOP
      judged := judged || n;
      RETURN NEXT;
    END LOOP;
  END LOOP;
END $$;

-- The kill switch: nothing that a row covers is accepted, signed or sent. A wallet is one of the service's own, or one
-- whose keys buy.
CREATE TABLE service.stop (
  scope text NOT NULL CHECK (scope IN ('global', 'keeper', 'wallet', 'key')),
  subject text NOT NULL,
  reason text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- How it was set: Postgres knows the api by its role.
  set_by text NOT NULL DEFAULT CASE current_user WHEN 'cover_api' THEN 'api' ELSE 'command line' END
    CHECK (set_by IN ('api', 'command line')),
  PRIMARY KEY (scope, subject),
  CHECK (CASE WHEN scope IN ('global', 'keeper') THEN subject = '' WHEN scope = 'wallet' THEN subject ~ '^0x[0-9a-f]{40}$' ELSE subject ~ '^[0-9]+$' END)
);
--> statement-breakpoint
-- The scope of a stop that covers a wallet of the service, or the purchases of a key or of its wallet: 'global', 'keeper',
-- 'wallet', 'key', or null.
CREATE FUNCTION service.stopped_by(of_wallet text, of_key bigint) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT s.scope FROM service.stop s
  WHERE s.scope = 'global' OR (s.scope = 'wallet' AND s.subject = of_wallet)
    OR (s.scope = 'key' AND s.subject = of_key::text)
    OR (s.scope = 'keeper' AND EXISTS (
      SELECT FROM service.relayer_wallet r WHERE r.address = of_wallet AND r.role = 'keeper'))
  ORDER BY s.scope LIMIT 1
$$;
--> statement-breakpoint
-- Until when a wallet may not buy, because three purchases of its keys reverted within an hour by their buyers' own making:
-- each of them cost the operator gas. Null when it may buy.
CREATE FUNCTION service.rests_until(of_wallet text) RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT max(r.struck_at) + interval '1 hour' FROM (
    SELECT s.struck_at FROM service.strike s
    WHERE s.wallet = of_wallet AND s.struck_at > now() - interval '2 hours'
    ORDER BY s.struck_at DESC LIMIT 3) r
  HAVING count(*) = 3 AND max(r.struck_at) - min(r.struck_at) <= interval '1 hour'
    AND max(r.struck_at) > now() - interval '1 hour'
$$;
--> statement-breakpoint
-- Locks a buyer until the transaction ends. Every transaction that decides about the buyer's funds takes this lock first,
-- so that each sees the result of the one before it.
CREATE FUNCTION service.lock_buyer(of_chain integer, of_buyer text) RETURNS void LANGUAGE sql AS $$
  SELECT pg_advisory_xact_lock(hashtextextended(format('service:buyer:%s:%s', of_chain, of_buyer), 0))
$$;
--> statement-breakpoint
-- Whether a purchase's outcome is certain, and older than 10 minutes.
CREATE FUNCTION service.is_outcome_old(of_purchase uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT 1 FROM service.transaction t WHERE t.intent = of_purchase AND t.lost_to IS NULL
    AND (t.outcome = 'done' OR t.final_at IS NOT NULL) AND t.settled_at < now() - interval '10 minutes')
$$;
--> statement-breakpoint
-- The existing purchase that a new call would repeat: the one with the same idempotency key or, without a key, the one with
-- the same content whose outcome is open, or which no caller has received yet. Without a key, an outcome that is older than 10
-- minutes no longer counts. Current and archived purchases are read in one snapshot: one that is being archived is found in
-- exactly one of them.
CREATE FUNCTION service.standing_purchase(of_chain integer, of_wallet text, of_key text, of_fingerprint text)
RETURNS TABLE (id uuid, fingerprint text) LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF of_key IS NOT NULL THEN
    RETURN QUERY SELECT p.id, p.fingerprint FROM service.purchase p
      WHERE p.wallet = of_wallet AND p.idempotency_key = of_key AND p.standing;
    IF NOT FOUND THEN
      RETURN QUERY SELECT a.id, a.fingerprint FROM service.archived_purchase a
        WHERE a.wallet = of_wallet AND a.idempotency_key = of_key AND a.standing;
    END IF;
  ELSE
    RETURN QUERY SELECT p.id, p.fingerprint FROM service.purchase p
      WHERE p.wallet = of_wallet AND p.chain_id = of_chain AND p.fingerprint = of_fingerprint
        AND p.idempotency_key IS NULL AND p.standing AND NOT service.is_outcome_old(p.id);
  END IF;
END $$;
--> statement-breakpoint
-- An active delegation of the buyer to the agent, with the premium left under it. Of those with room for the premium it is
-- the one that expires first; when none has room, the one with most room.
CREATE FUNCTION service.delegation_in_force(of_chain integer, of_router text, of_buyer text, of_agent text, of_premium numeric)
RETURNS TABLE (id bigint, premium_left numeric) LANGUAGE sql STABLE AS $$
  SELECT d.id, d.premium_left FROM (
    SELECT x.id, x.expires_at, x.total_premium_cap - x.premium_spent AS premium_left
    FROM service.delegation x
    WHERE x.chain_id = of_chain AND x.router = of_router AND x.buyer = of_buyer AND x.agent = of_agent
      AND x.revoked_at IS NULL AND x.expires_at > now()) d
  ORDER BY d.premium_left >= of_premium DESC, CASE WHEN d.premium_left >= of_premium THEN d.expires_at END,
    d.premium_left DESC LIMIT 1
$$;
--> statement-breakpoint
-- Locks an API key until the transaction ends, so that its purchases are counted one after the other, whoever their buyers are.
-- Buyers are locked before keys, and several keys in the order of their ids.
CREATE FUNCTION service.lock_key(of_key bigint) RETURNS void LANGUAGE sql AS $$
  SELECT pg_advisory_xact_lock(hashtextextended(format('service:key:%s', of_key), 0))
$$;
--> statement-breakpoint
-- The premiums that count against a key's limit of this UTC day.
CREATE FUNCTION service.premium_of_day(of_key bigint) RETURNS numeric LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(k.premium), 0) FROM service.key_premium k
  WHERE k.key_id = of_key AND k.day = (now() AT TIME ZONE 'utc')::date AND NOT k.failed
$$;
--> statement-breakpoint
-- The limit of an API key that forbids a purchase: 'scope', 'product', 'purchase' (amount: the most premium of one purchase), 'day'
-- (amount: what is left of the day's premium), or null. Of a key with a daily limit, lock the key first.
CREATE FUNCTION service.limited_by(
  of_key bigint, of_product text, of_premium numeric, OUT reached text, OUT amount numeric
) LANGUAGE sql STABLE AS $$
  SELECT CASE
      WHEN NOT 'buy' = ANY (k.scopes) THEN 'scope'
      WHEN NOT of_product = ANY (k.products) THEN 'product'
      WHEN of_premium > k.max_premium_per_purchase THEN 'purchase'
      WHEN of_premium > d.premium_left THEN 'day' END,
    CASE WHEN of_premium > k.max_premium_per_purchase THEN k.max_premium_per_purchase ELSE d.premium_left END
  FROM service.api_key k, LATERAL (
    SELECT CASE WHEN k.max_premium_per_day IS NOT NULL
      THEN k.max_premium_per_day - service.premium_of_day(k.id) END AS premium_left) d
  WHERE k.id = of_key AND k.limited
$$;
--> statement-breakpoint
-- Whether a permit of the buyer waits to be sent or to be mined. Another one would set the allowance anew.
CREATE FUNCTION service.has_permit_in_flight(of_chain integer, of_buyer text) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM service.waiting w JOIN service.permit m ON m.purchase_id = w.intent
      WHERE w.payer = of_buyer AND w.chain_id = of_chain)
    OR EXISTS (SELECT FROM service.in_flight(of_chain, of_buyer, NULL) t WHERE t.kind = 'permit' AND t.state = 'open')
$$;
--> statement-breakpoint
-- The premiums and the number of a buyer's purchases in flight. The state of the chain up to `funds_block` includes those up to
-- that block; those after it, and those still open, are added here.
CREATE FUNCTION service.bought_by(of_chain integer, of_buyer text, funds_block bigint, OUT held numeric, OUT in_flight integer)
LANGUAGE plpgsql STABLE AS $$
BEGIN
  SELECT coalesce(sum(x.premium), 0), count(*) INTO held, in_flight FROM (
    SELECT w.premium FROM service.waiting w
    WHERE w.payer = of_buyer AND w.chain_id = of_chain AND w.kind = 'purchase'
    UNION ALL
    SELECT coalesce(t.premium_paid, t.quoted_premium) FROM service.in_flight(of_chain, of_buyer, funds_block) t
    WHERE t.kind = 'purchase' AND (t.state = 'open' OR t.premium_paid IS NOT NULL)) x;
END $$;
--> statement-breakpoint
-- Records a purchase, or records nothing and returns the reason. It locks the buyer, and a key with a daily limit, before it reads
-- anything, so that any number of concurrent calls, in any number of processes, stay within the limits of a single one.
-- `funds` is what the buyer can pay as of `funds_block`, a block up to which the ledger is settled. It may be null (unknown)
-- only while the buyer has no other purchase in flight. The outcomes: created, joined (with the purchase), conflict,
-- stopped (scope), limited (scope and amount: see service.limited_by), resting (amount: seconds), not_delegated (amount: premium left, or null), permit_in_flight, funds_unknown,
-- short_of_funds (amount: premiums in flight). With a permit, `funds` has the allowance after it. `held` and `in_flight` are the
-- premiums and the number of the buyer's other purchases in flight; null: they are read. A caller passes the result on to the
-- same buyer's next purchase.
CREATE FUNCTION service.accept_purchase(
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
--> statement-breakpoint
-- The purchases that the api sends.
CREATE FUNCTION service.wanted_purchases(purchases json) RETURNS TABLE (
  n integer, chain_id integer, router text, wallet text, key_id bigint, idempotency_key text, fingerprint text,
  product_id text, coverage numeric, asset text, buyer text, premium numeric, permit_value numeric, permit_deadline numeric,
  permit_signature text, funds_block bigint, funds numeric
) LANGUAGE sql IMMUTABLE ROWS 50 AS $$
  SELECT * FROM json_to_recordset(purchases) AS x (
    n integer, chain_id integer, router text, wallet text, key_id bigint, idempotency_key text, fingerprint text,
    product_id text, coverage numeric, asset text, buyer text, premium numeric, permit_value numeric, permit_deadline numeric,
    permit_signature text, funds_block bigint, funds numeric)
$$;
--> statement-breakpoint
-- Records purchases as service.accept_purchase does, in their order. All buyers are locked first, then all keys with a daily limit.
-- Where all purchases of a buyer are plain (for the own wallet of a key without limits, each with an idempotency key of its own,
-- without a permit) and certainly within the buyer's funds, they are recorded together with those of all such buyers, for a third of the work. Of the other buyers, what
-- their purchases hold is read once, because nobody else can add to it while the buyer is locked.
CREATE FUNCTION service.accept_purchases(purchases json) RETURNS TABLE (
  n integer, outcome text, purchase_id uuid, accepted_at timestamptz, scope text, amount numeric
) LANGUAGE plpgsql AS $$
DECLARE
  w record;
  recorded integer[] := '{}';
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

  outcome := 'created';
  FOR n, purchase_id, accepted_at IN
    WITH wanted AS MATERIALIZED (SELECT * FROM service.wanted_purchases(purchases)),
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
      ON CONFLICT DO NOTHING RETURNING p.id, p.created_at, p.wallet, p.idempotency_key)
    SELECT x.n, c.id, c.created_at FROM created c
    JOIN wanted x ON x.wallet = c.wallet AND x.idempotency_key = c.idempotency_key
  LOOP
    recorded := recorded || n;
    RETURN NEXT;
  END LOOP;

  FOR w IN SELECT * FROM service.wanted_purchases(purchases) x WHERE x.n <> ALL (recorded) LOOP
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

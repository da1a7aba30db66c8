-- Before this migration some earlier ones were edited after databases had them. This brings such a database to what they say now,
-- and changes nothing in one that was created since. A test compares the two.
ALTER TABLE service.api_key
  ADD COLUMN IF NOT EXISTS scopes text[] CHECK (cardinality(scopes) > 0 AND scopes <@ ARRAY['read', 'buy', 'webhooks']),
  ADD COLUMN IF NOT EXISTS products text[] CHECK (cardinality(products) > 0),
  ADD COLUMN IF NOT EXISTS max_premium_per_purchase numeric(78, 0) CHECK (max_premium_per_purchase >= 0),
  ADD COLUMN IF NOT EXISTS max_premium_per_day numeric(78, 0) CHECK (max_premium_per_day >= 0);
--> statement-breakpoint
ALTER TABLE service.api_key ADD COLUMN IF NOT EXISTS limited boolean NOT NULL GENERATED ALWAYS AS (
  num_nonnulls(scopes, products, max_premium_per_purchase, max_premium_per_day) > 0) STORED;
--> statement-breakpoint
DROP INDEX service.api_key_wallet;
--> statement-breakpoint
CREATE INDEX api_key_wallet ON service.api_key (wallet, id);
--> statement-breakpoint
-- What the purchases of keys with a daily limit count against it.
CREATE TABLE IF NOT EXISTS service.key_premium (
  purchase_id uuid PRIMARY KEY REFERENCES service.purchase (id) ON DELETE CASCADE,
  key_id bigint NOT NULL REFERENCES service.api_key (id),
  -- The UTC day in which it was accepted.
  day date NOT NULL,
  -- The quoted premium (USDC, 6 decimals).
  premium numeric(78, 0) NOT NULL,
  -- Nothing was bought, and nothing can be any more: it does not count.
  failed boolean NOT NULL DEFAULT false
);
--> statement-breakpoint
CREATE INDEX IF NOT EXISTS key_premium_day ON service.key_premium (key_id, day);
--> statement-breakpoint
ALTER TABLE service.waiting ADD COLUMN IF NOT EXISTS premium numeric(78, 0);
--> statement-breakpoint
UPDATE service.waiting w SET premium = p.quoted_premium FROM service.purchase p
WHERE p.id = w.intent AND w.kind = 'purchase' AND w.premium IS NULL;
--> statement-breakpoint
ALTER TABLE service.waiting DROP CONSTRAINT IF EXISTS waiting_premium,
  ADD CONSTRAINT waiting_premium CHECK ((premium IS NOT NULL) = (kind = 'purchase'));
--> statement-breakpoint
-- With the owner's rights: the api inserts purchases and claims, and nothing here.
CREATE OR REPLACE FUNCTION service.wait_to_be_signed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF TG_TABLE_NAME = 'purchase' THEN
    -- The api wakes a writer for it; after this time it was forgotten.
    INSERT INTO service.waiting (intent, kind, chain_id, payer, premium, group_id, created_at, wake_at)
    SELECT p.id, 'purchase', p.chain_id, p.buyer, p.quoted_premium, p.id, p.created_at, now() + interval '5 seconds' FROM added p;
  ELSE
    INSERT INTO service.waiting (intent, kind, chain_id, payer, group_id, created_at, wake_at)
    SELECT e.id, 'service_transaction', e.chain_id, e.sender, coalesce(e.claim_id, e.id), e.created_at, now() FROM added e;
  END IF;
  RETURN NULL;
END $$;
--> statement-breakpoint
DROP TRIGGER purchase_waits ON service.purchase;
--> statement-breakpoint
CREATE TRIGGER purchase_waits AFTER INSERT ON service.purchase
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION service.wait_to_be_signed();
--> statement-breakpoint
DROP TRIGGER service_transaction_waits ON service.service_transaction;
--> statement-breakpoint
CREATE TRIGGER service_transaction_waits AFTER INSERT ON service.service_transaction
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION service.wait_to_be_signed();
--> statement-breakpoint
-- After an outcome has changed: tells its waiters, counts strikes, frees or takes back the idempotency key, charges the
-- delegation and the daily limit of the API key.
CREATE OR REPLACE FUNCTION service.note_outcome() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  bought service.purchase;
BEGIN
  IF NEW.outcome IS NOT NULL AND NOT (NEW.final_at IS NOT NULL AND NEW.outcome = 'done') THEN
    PERFORM service.announce(NEW.kind, NEW.intent);
  END IF;
  IF NEW.kind <> 'purchase' OR NEW.delegation_id IS NULL AND NEW.outcome IS NOT DISTINCT FROM 'done'
    AND OLD.failed_by IS NULL AND OLD.outcome IS DISTINCT FROM 'replaced' THEN
    RETURN NULL;
  END IF;
  SELECT * INTO bought FROM service.purchase p WHERE p.id = NEW.intent;
  IF NEW.failed_by IS DISTINCT FROM OLD.failed_by THEN
    DELETE FROM service.strike s WHERE s.transaction_id = NEW.id;
    -- The sandbox's purchases do not count, because its wallet buys for everybody.
    IF NEW.failed_by = 'buyer' AND bought.key_id IS NOT NULL THEN
      INSERT INTO service.strike (transaction_id, wallet) VALUES (NEW.id, bought.wallet);
    END IF;
  END IF;
  IF NEW.final_at IS NOT NULL AND OLD.final_at IS NULL
    AND (NEW.outcome = 'replaced' OR NEW.failed_by = 'protocol' AND bought.idempotency_key IS NOT NULL) THEN
    UPDATE service.purchase p SET standing = false WHERE p.id = NEW.intent AND p.standing;
  ELSIF OLD.final_at IS NOT NULL AND NEW.final_at IS NULL AND bought.idempotency_key IS NOT NULL THEN
    -- A deep reorganisation: it may be mined again, so that its key is not free, unless the key was used again.
    UPDATE service.purchase p SET standing = true WHERE p.id = NEW.intent AND NOT p.standing AND NOT EXISTS (
      SELECT FROM service.standing_purchase(p.chain_id, p.wallet, p.idempotency_key, p.fingerprint));
  END IF;
  UPDATE service.key_premium k SET failed = NOT k.failed
  WHERE k.purchase_id = NEW.intent AND k.failed <> (NEW.final_at IS NOT NULL AND NEW.outcome <> 'done');
  IF NEW.delegation_id IS NOT NULL THEN
    UPDATE service.delegation d
    SET premium_spent = d.premium_spent + service.premium_of(NEW) - service.premium_of(OLD)
    WHERE d.id = NEW.delegation_id AND service.premium_of(NEW) <> service.premium_of(OLD);
  END IF;
  RETURN NULL;
END $$;
--> statement-breakpoint
-- A refused purchase no longer counts against the daily limit of its API key.
CREATE OR REPLACE FUNCTION service.note_refused_premium() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE service.key_premium k SET failed = true WHERE k.purchase_id = NEW.id;
  RETURN NULL;
END $$;
--> statement-breakpoint
DROP TRIGGER IF EXISTS purchase_refused_premium ON service.purchase;
--> statement-breakpoint
CREATE TRIGGER purchase_refused_premium AFTER UPDATE OF refused_at ON service.purchase
  FOR EACH ROW WHEN (NEW.key_id IS NOT NULL AND OLD.refused_at IS NULL AND NEW.refused_at IS NOT NULL)
  EXECUTE FUNCTION service.note_refused_premium();
--> statement-breakpoint
-- Who sent what was counted before is not known: it counts in the sums of its day.
ALTER TABLE service.gas_day ADD COLUMN IF NOT EXISTS sender text;
--> statement-breakpoint
UPDATE service.gas_day SET sender = '' WHERE sender IS NULL;
--> statement-breakpoint
ALTER TABLE service.gas_day ALTER COLUMN sender SET NOT NULL, DROP CONSTRAINT gas_day_pkey,
  ADD PRIMARY KEY (chain_id, day, wallet, sender);
--> statement-breakpoint
-- The most gas, in wei, and coverage that a round of a wallet may reserve. A round commits its plan before it reads the plans of other
-- wallets. So of two rounds at the same time one at least sees the other, and together they keep a budget without a lock. The
-- transaction that reserves deletes the plan. A crash of the server ends the plans together with the rounds.
CREATE UNLOGGED TABLE IF NOT EXISTS service.round_plan (
  round uuid PRIMARY KEY,
  chain_id integer NOT NULL,
  wallet text NOT NULL,
  gas numeric(78, 0) NOT NULL,
  -- The gas by the wallets whose keys made the purchases.
  client_gas jsonb NOT NULL,
  coverage numeric(78, 0) NOT NULL,
  planned_at timestamptz NOT NULL DEFAULT now()
);
--> statement-breakpoint
-- The plans of other wallets. No round takes five minutes: an older plan is of a wallet that no writer has any more.
CREATE OR REPLACE FUNCTION service.plans_of_others(of_chain integer, of_wallet text) RETURNS SETOF service.round_plan LANGUAGE sql STABLE AS $$
  SELECT * FROM service.round_plan r
  WHERE r.chain_id = of_chain AND r.wallet <> of_wallet AND r.planned_at > now() - interval '5 minutes'
$$;
--> statement-breakpoint
-- Adds gas to the days and wallets that it counts for. It locks the rows of gas_day in one order, after all other rows of
-- the statement, so that no two statements wait for each other.
CREATE OR REPLACE FUNCTION service.add_gas(chains integer[], days date[], senders text[], clients text[], weis numeric[]) RETURNS void
LANGUAGE sql AS $$
  INSERT INTO service.gas_day AS g (chain_id, day, wallet, sender, wei)
  SELECT c.chain, c.day, w.wallet, c.sender, sum(c.wei)
  FROM (SELECT chain, day, sender, client, sum(wei) AS wei
      FROM unnest(chains, days, senders, clients, weis) AS u (chain, day, sender, client, wei) GROUP BY 1, 2, 3, 4) c,
    LATERAL (VALUES (service.gas_account(c.chain, c.sender)), (c.client)) w (wallet)
  WHERE w.wallet IS NOT NULL GROUP BY 1, 2, 3, 4 HAVING sum(c.wei) <> 0 ORDER BY 1, 2, 3, 4
  ON CONFLICT (chain_id, day, wallet, sender) DO UPDATE SET wei = g.wei + excluded.wei
$$;
--> statement-breakpoint
ALTER TABLE service.stop ADD COLUMN IF NOT EXISTS set_by text NOT NULL
  DEFAULT CASE current_user WHEN 'cover_api' THEN 'api' ELSE 'command line' END CHECK (set_by IN ('api', 'command line'));
--> statement-breakpoint
-- Locks an API key until the transaction ends, so that its purchases are counted one after the other, whoever their buyers are.
-- Buyers are locked before keys, and several keys in the order of their ids.
CREATE OR REPLACE FUNCTION service.lock_key(of_key bigint) RETURNS void LANGUAGE sql AS $$
  SELECT pg_advisory_xact_lock(hashtextextended(format('service:key:%s', of_key), 0))
$$;
--> statement-breakpoint
-- The premiums that count against a key's limit of this UTC day.
CREATE OR REPLACE FUNCTION service.premium_of_day(of_key bigint) RETURNS numeric LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(k.premium), 0) FROM service.key_premium k
  WHERE k.key_id = of_key AND k.day = (now() AT TIME ZONE 'utc')::date AND NOT k.failed
$$;
--> statement-breakpoint
-- The limit of an API key that forbids a purchase: 'scope', 'product', 'purchase' (amount: the most premium of one purchase), 'day'
-- (amount: what is left of the day's premium), or null. Of a key with a daily limit, lock the key first.
CREATE OR REPLACE FUNCTION service.limited_by(
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
-- The premiums and the number of a buyer's purchases in flight. The state of the chain up to `funds_block` includes those up to
-- that block; those after it, and those still open, are added here.
CREATE OR REPLACE FUNCTION service.bought_by(of_chain integer, of_buyer text, funds_block bigint, OUT held numeric, OUT in_flight integer)
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
--> statement-breakpoint
-- The purchases that the api sends.
CREATE OR REPLACE FUNCTION service.wanted_purchases(purchases json) RETURNS TABLE (
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
CREATE INDEX IF NOT EXISTS webhook_undeliverable ON service.webhook (id) WHERE state = 'undeliverable';
--> statement-breakpoint
CREATE INDEX IF NOT EXISTS keeper_task_failed ON service.keeper_task (failures, retry_at)
WHERE failures > 0 AND service_transaction_id IS NULL;
--> statement-breakpoint
CREATE INDEX IF NOT EXISTS service_transaction_created ON service.service_transaction (created_at);

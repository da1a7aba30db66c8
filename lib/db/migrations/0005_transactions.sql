-- The relay ledger: wallets, what waits to be signed, transactions (one per nonce), the signed forms of each, and their gas.

-- The wallets that send. Relayers send purchases; the keeper's triggers and closes policies; the sandbox's wallet pays its own
-- premiums; the faucet's sends grants.
CREATE TABLE service.relayer_wallet (
  chain_id integer NOT NULL,
  address text NOT NULL CHECK (address ~ '^0x[0-9a-f]{40}$'),
  role text NOT NULL DEFAULT 'relayer' CHECK (role IN ('relayer', 'keeper', 'sandbox', 'faucet')),
  -- The nonce of the next new transaction; null until it was first read from the chain.
  next_nonce bigint CHECK (next_nonce >= 0),
  -- No transaction with a lower nonce is open, so that open ones are found without an index of their own.
  open_from bigint NOT NULL DEFAULT 0,
  -- Each transaction with a lower nonce is lost, or final in a block too deep to be watched any more.
  final_below bigint NOT NULL DEFAULT 0,
  -- The writer that may sign for this wallet, and until when.
  lease_owner text,
  lease_until timestamptz NOT NULL DEFAULT '-infinity',
  -- Rises with each change of the owner. A writer with an older token can store nothing.
  fencing_token bigint NOT NULL DEFAULT 0,
  heartbeat_at timestamptz,
  -- Why the owner cannot sign with it, in words; null when it can. The writer alone knows the gas caps: this column shows
  -- the api that the wallet cannot pay.
  fault text,
  -- Nonces from unknown_from to below unknown_below that have no transaction here were used by transactions that the ledger
  -- does not know. A nonce is committed here before it is used: so commits were lost, or another program has the key.
  unknown_from bigint,
  unknown_below bigint,
  unknown_since timestamptz,
  PRIMARY KEY (chain_id, address),
  CONSTRAINT relayer_wallet_unknown CHECK (num_nonnulls(unknown_from, unknown_below, unknown_since) IN (0, 3))
);
--> statement-breakpoint
-- Purchases and service transactions that wait to be signed. Who signs one, or refuses it, deletes its row: only one can.
CREATE TABLE service.waiting (
  -- The id of the purchase or of the service transaction.
  intent uuid PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('purchase', 'service_transaction')),
  chain_id integer NOT NULL,
  -- Whose funds it holds: the buyer, or the wallet that sends the service transaction.
  payer text NOT NULL,
  -- Of a purchase: its quoted premium, because each acceptance adds up what its buyer's purchases hold.
  premium numeric(78, 0),
  -- The transfers of a claim are signed together or not at all: the claim's id; otherwise the intent's.
  group_id uuid NOT NULL,
  created_at timestamptz NOT NULL,
  -- When a writer may look at it again.
  wake_at timestamptz NOT NULL,
  CONSTRAINT waiting_premium CHECK ((premium IS NOT NULL) = (kind = 'purchase'))
);
--> statement-breakpoint
CREATE INDEX waiting_payer ON service.waiting (payer);
--> statement-breakpoint
CREATE INDEX waiting_group ON service.waiting (group_id);
--> statement-breakpoint
-- With the owner's rights: the api inserts purchases and claims, and nothing here.
CREATE FUNCTION service.wait_to_be_signed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF TG_TABLE_NAME = 'purchase' THEN
    -- The api wakes a writer for it; after this time it was forgotten.
    INSERT INTO service.waiting
    SELECT p.id, 'purchase', p.chain_id, p.buyer, p.quoted_premium, p.id, p.created_at, now() + interval '5 seconds' FROM added p;
  ELSE
    INSERT INTO service.waiting
    SELECT e.id, 'service_transaction', e.chain_id, e.sender, NULL, coalesce(e.claim_id, e.id), e.created_at, now() FROM added e;
  END IF;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER purchase_waits AFTER INSERT ON service.purchase
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION service.wait_to_be_signed();
--> statement-breakpoint
CREATE TRIGGER service_transaction_waits AFTER INSERT ON service.service_transaction
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION service.wait_to_be_signed();
--> statement-breakpoint
-- Every transaction that the service sends, one row per nonce, with its call and its outcome. The writer stores the nonce and
-- the call, then the signed bytes (service.attempt), and then sends them. The recovery signs a nonce without bytes for its call.
CREATE TABLE service.transaction (
  id bigserial PRIMARY KEY,
  chain_id integer NOT NULL,
  wallet text NOT NULL,
  nonce bigint NOT NULL CHECK (nonce >= 0),
  -- A filler is an empty transfer to the wallet itself that closes a nonce gap.
  kind text NOT NULL CHECK (kind IN ('purchase', 'permit', 'service_transaction', 'filler')),
  -- The purchase, permit or service transaction that it carries out, and the wallet whose funds it spends.
  intent uuid,
  payer text,
  -- Of a purchase, copied from it: the wallet of its API key, its quoted premium, its delegation. Each acceptance adds up the
  -- premiums in flight, and each outcome adds to the client's gas. A permit has the client of its purchase.
  client text,
  quoted_premium numeric(78, 0),
  delegation_id bigint REFERENCES service.delegation (id),
  "to" text NOT NULL CHECK ("to" ~ '^0x[0-9a-f]{40}$'),
  data text NOT NULL CHECK (data ~ '^0x([0-9a-f]{2})*$'),
  -- The ether that it transfers, in wei.
  value numeric(78, 0) NOT NULL DEFAULT 0,
  gas_limit bigint NOT NULL CHECK (gas_limit > 0),
  created_at timestamptz NOT NULL DEFAULT now(),
  -- Since when it waits to be mined: since it got its nonce, or since a reorganisation dropped its block.
  opened_at timestamptz NOT NULL DEFAULT now(),
  -- The highest possible gas cost of its signed forms, in wei.
  gas_reserved numeric(78, 0) NOT NULL DEFAULT 0,
  -- The form that was mined, where, and what it did. Replaced: an empty transfer was mined in place of the call.
  hash text CHECK (hash ~ '^0x[0-9a-f]{64}$'),
  block_number bigint,
  block_hash text CHECK (block_hash ~ '^0x[0-9a-f]{64}$'),
  outcome text CHECK (outcome IN ('done', 'reverted', 'replaced')),
  -- In wei, with the L1 fee.
  gas_cost numeric(78, 0),
  settled_at timestamptz,
  -- What a purchase bought: the premium with 6 decimals.
  policy_id numeric(78, 0),
  premium_paid numeric(78, 0),
  failure_code text,
  failure_message text,
  -- Who caused a revert: the buyer (funds, allowance), or the protocol and its operators (pause, capacity, oracle).
  failed_by text CHECK (failed_by IN ('buyer', 'protocol')),
  -- When the outcome's block was deep enough.
  final_at timestamptz,
  -- The form that was mined in a block which fell out of the chain: it is to be mined again.
  dropped_hash text CHECK (dropped_hash ~ '^0x[0-9a-f]{64}$'),
  -- Another transaction, not one of ours, that has its nonce in a block deep enough.
  lost_to text CHECK (lost_to ~ '^0x[0-9a-f]{64}$'),
  -- open: may still be mined; mined: seen in a block; final: in a block that is deep enough; lost: can never be mined.
  state text NOT NULL GENERATED ALWAYS AS (CASE WHEN lost_to IS NOT NULL THEN 'lost' WHEN final_at IS NOT NULL THEN 'final'
    WHEN block_number IS NOT NULL THEN 'mined' ELSE 'open' END) STORED,
  UNIQUE (chain_id, wallet, nonce),
  FOREIGN KEY (chain_id, wallet) REFERENCES service.relayer_wallet (chain_id, address),
  CONSTRAINT transaction_kind CHECK ((kind = 'filler') = (intent IS NULL) AND (intent IS NULL) = (payer IS NULL)
    AND (client IS NOT NULL) = (kind IN ('purchase', 'permit')) AND (quoted_premium IS NOT NULL) = (kind = 'purchase')),
  -- No outcome without its evidence.
  CONSTRAINT transaction_evidence CHECK (CASE
    WHEN block_number IS NULL THEN
      num_nonnulls(hash, block_hash, outcome, gas_cost, settled_at, policy_id, premium_paid, failure_code, failure_message,
        failed_by, final_at) = 0
    ELSE num_nulls(hash, block_hash, outcome, gas_cost, settled_at) = 0 AND lost_to IS NULL AND CASE outcome
      WHEN 'done' THEN num_nonnulls(failure_code, failure_message, failed_by) = 0
        AND num_nonnulls(policy_id, premium_paid) = CASE kind WHEN 'purchase' THEN 2 ELSE 0 END
      ELSE num_nulls(failure_code, failure_message) = 0 AND num_nonnulls(policy_id, premium_paid) = 0
        AND (outcome = 'reverted') = (failed_by IS NOT NULL)
    END
  END)
) WITH (fillfactor = 70);
--> statement-breakpoint
-- At most one transaction of an intent can ever be mined. No index names a column that an outcome changes: such updates
-- touch no index.
CREATE UNIQUE INDEX transaction_intent ON service.transaction (intent) WHERE lost_to IS NULL;
--> statement-breakpoint
CREATE INDEX transaction_lost ON service.transaction (intent) WHERE lost_to IS NOT NULL;
--> statement-breakpoint
-- See service.in_flight.
CREATE INDEX transaction_payer ON service.transaction (payer, chain_id, wallet, nonce);
--> statement-breakpoint
-- Each wallet's highest nonce in a block up to `block`; without a block, the nonce below its lowest open one; else -1. Nonces of
-- a wallet are mined in their order: those above are open, or in a later block. In plpgsql, so that Postgres runs it once and
-- not inside the caller's plan.
CREATE FUNCTION service.mined_up_to(of_chain integer, block bigint) RETURNS TABLE (wallet text, nonce bigint)
LANGUAGE plpgsql STABLE ROWS 4 AS $$
BEGIN
  RETURN QUERY SELECT r.address, CASE WHEN block IS NULL THEN r.open_from - 1 ELSE coalesce((
      SELECT x.nonce FROM service.transaction x
      WHERE x.chain_id = r.chain_id AND x.wallet = r.address AND x.nonce < r.open_from AND x.block_number <= block
      ORDER BY x.nonce DESC LIMIT 1), -1) END
    FROM service.relayer_wallet r WHERE r.chain_id = of_chain;
END $$;
--> statement-breakpoint
-- A payer's transactions that are open, or in a block above `block`.
CREATE FUNCTION service.in_flight(of_chain integer, of_payer text, block bigint) RETURNS SETOF service.transaction
LANGUAGE sql STABLE AS $$
  SELECT t.* FROM service.mined_up_to(of_chain, block) seen
  JOIN service.transaction t ON t.chain_id = of_chain AND t.wallet = seen.wallet AND t.nonce > seen.nonce
  WHERE t.payer = of_payer AND (t.state = 'open' OR t.block_number > block)
$$;
--> statement-breakpoint
-- A wallet's transactions from this nonce on. It is planned by itself, with the nonce's value: joined to the wallet's row,
-- Postgres expects a third of all transactions above a watermark, and scans the table.
CREATE FUNCTION service.transactions_from(of_chain integer, of_wallet text, first bigint) RETURNS SETOF service.transaction
LANGUAGE plpgsql STABLE ROWS 200 AS $$
BEGIN
  RETURN QUERY SELECT t.* FROM service.transaction t
    WHERE t.chain_id = of_chain AND t.wallet = of_wallet AND t.nonce >= first;
END $$;
--> statement-breakpoint
CREATE INDEX transaction_created ON service.transaction (chain_id, created_at);
--> statement-breakpoint
-- A signed form of a transaction; later forms pay a higher fee.
CREATE TABLE service.attempt (
  hash text PRIMARY KEY CHECK (hash ~ '^0x[0-9a-f]{64}$'),
  -- Gives the order in which the attempts were stored, whatever the clock says.
  id bigserial NOT NULL,
  transaction_id bigint NOT NULL REFERENCES service.transaction (id),
  signed text NOT NULL CHECK (signed ~ '^0x([0-9a-f]{2})+$'),
  max_fee numeric(78, 0) NOT NULL,
  priority_fee numeric(78, 0) NOT NULL,
  -- The lease under which it was signed.
  fencing_token bigint NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- It is sent as soon as it is stored; null: it is due to be sent again.
  last_broadcast_at timestamptz DEFAULT now(),
  -- A cancellation: an empty transfer to the wallet itself in place of the call.
  cancels boolean NOT NULL DEFAULT false,
  -- Whether no node has said that it took it. A form counts as taken until a broadcast has another answer.
  untaken boolean NOT NULL DEFAULT false
);
--> statement-breakpoint
CREATE INDEX attempt_transaction ON service.attempt (transaction_id);
--> statement-breakpoint
-- Raises open_from and final_below of a chain's wallets; blocks from watched_from on are watched. The wallets are locked
-- first: whoever opens a transaction again locks its wallet too, and lowers what this has raised. A wallet that is locked
-- is left for the next block, so that no wallet's signing rounds wait for another wallet's.
CREATE FUNCTION service.raise_watermarks(of_chain integer, watched_from bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  w service.relayer_wallet;
  lowest_open bigint;
  lowest_watched bigint;
BEGIN
  FOR w IN SELECT * FROM service.relayer_wallet r WHERE r.chain_id = of_chain FOR UPDATE SKIP LOCKED LOOP
    lowest_open := coalesce((SELECT t.nonce FROM service.transaction t
      WHERE t.chain_id = w.chain_id AND t.wallet = w.address AND t.nonce >= w.open_from AND t.state = 'open'
      ORDER BY t.nonce LIMIT 1), w.next_nonce, 0);
    lowest_watched := coalesce((SELECT t.nonce FROM service.transaction t
      WHERE t.chain_id = w.chain_id AND t.wallet = w.address AND t.nonce >= w.final_below AND t.lost_to IS NULL
        AND (t.final_at IS NULL OR t.block_number >= watched_from)
      ORDER BY t.nonce LIMIT 1), w.next_nonce, 0);
    UPDATE service.relayer_wallet r SET open_from = lowest_open, final_below = lowest_watched
    WHERE r.chain_id = w.chain_id AND r.address = w.address
      AND (lowest_open > r.open_from OR lowest_watched > r.final_below);
  END LOOP;
END $$;
--> statement-breakpoint
-- The block up to which the ledger has settled the transactions in flight.
CREATE TABLE service.watched_block (
  chain_id integer PRIMARY KEY,
  number bigint NOT NULL,
  hash text NOT NULL,
  seen_at timestamptz NOT NULL DEFAULT now()
);
--> statement-breakpoint
-- What became of an intent: accepted, signed (no node has taken it yet), broadcast, mined, confirmed, failed, replaced.
CREATE FUNCTION service.progress_of(refused_at timestamptz, t service.transaction, form text, form_untaken boolean)
RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE
    WHEN refused_at IS NOT NULL THEN 'failed'
    WHEN t.outcome = 'done' THEN CASE WHEN t.final_at IS NULL THEN 'mined' ELSE 'confirmed' END
    WHEN t.outcome = 'reverted' THEN 'failed'
    WHEN t.outcome = 'replaced' THEN 'replaced'
    WHEN form IS NULL THEN 'accepted'
    WHEN form_untaken THEN 'signed'
    ELSE 'broadcast'
  END
$$;
--> statement-breakpoint
-- Purchases with their state and outcome, also archived ones. An open purchase shows the hash of its newest form, and never that
-- of a cancellation.
CREATE VIEW service.purchase_progress AS
SELECT p.id, p.chain_id, p.wallet, p.key_id, p.idempotency_key, p.fingerprint, p.product_id, p.coverage_amount, p.asset,
  p.buyer, p.quoted_premium, p.delegation_id, p.created_at, p.standing,
  service.progress_of(p.refused_at, t, f.hash, f.untaken) AS state,
  coalesce(t.hash, f.hash) AS tx_hash, t.block_number, t.block_hash, t.policy_id, t.premium_paid,
  coalesce(p.failure_code, t.failure_code) AS failure_code, coalesce(p.failure_message, t.failure_message) AS failure_message,
  coalesce(p.refused_at, t.settled_at) AS settled_at, coalesce(p.refused_at, t.final_at) AS final_at
FROM service.purchase p
LEFT JOIN service.transaction t ON t.intent = p.id AND t.lost_to IS NULL
LEFT JOIN LATERAL (
  SELECT a.hash, a.untaken FROM service.attempt a
  WHERE t.block_number IS NULL AND a.transaction_id = t.id AND NOT a.cancels ORDER BY a.id DESC LIMIT 1) f ON true
UNION ALL
SELECT id, chain_id, wallet, key_id, idempotency_key, fingerprint, product_id, coverage_amount, asset, buyer, quoted_premium,
  delegation_id, created_at, standing, state, tx_hash, block_number, block_hash, policy_id, premium_paid, failure_code,
  failure_message, settled_at, final_at
FROM service.archived_purchase;
--> statement-breakpoint
CREATE VIEW service.service_transaction_progress AS
SELECT e.id, e.chain_id, e.sender, e.purpose, e.claim_id, e."to", e.data, e.value, e.created_at,
  service.progress_of(e.refused_at, t, f.hash, f.untaken) AS state,
  coalesce(t.hash, f.hash) AS tx_hash, t.block_number, t.block_hash,
  coalesce(e.failure_code, t.failure_code) AS failure_code, coalesce(e.failure_message, t.failure_message) AS failure_message,
  coalesce(e.refused_at, t.settled_at) AS settled_at, coalesce(e.refused_at, t.final_at) AS final_at
FROM service.service_transaction e
LEFT JOIN service.transaction t ON t.intent = e.id AND t.lost_to IS NULL
LEFT JOIN LATERAL (
  SELECT a.hash, a.untaken FROM service.attempt a
  WHERE t.block_number IS NULL AND a.transaction_id = t.id AND NOT a.cancels ORDER BY a.id DESC LIMIT 1) f ON true;
--> statement-breakpoint
-- Purchases that reverted by their buyers' own making: each cost the operator gas.
CREATE TABLE service.strike (
  -- It stays when its transaction is archived.
  transaction_id bigint PRIMARY KEY,
  -- The wallet of the API key that made the purchase.
  wallet text NOT NULL,
  struck_at timestamptz NOT NULL DEFAULT now()
);
--> statement-breakpoint
CREATE INDEX strike_wallet ON service.strike (wallet, struck_at);
--> statement-breakpoint
-- What a purchase counts against its delegation: the premium paid, 0 after a final failure, the quoted premium until then.
CREATE FUNCTION service.premium_of(t service.transaction) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN t.premium_paid IS NOT NULL THEN t.premium_paid
    WHEN t.outcome <> 'done' AND t.final_at IS NOT NULL THEN 0 ELSE t.quoted_premium END
$$;
--> statement-breakpoint
-- Tells those who wait for a purchase or a claim.
CREATE FUNCTION service.announce(kind text, intent uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF kind = 'purchase' THEN
    PERFORM pg_notify('service_purchase', intent::text);
  ELSE
    PERFORM pg_notify('service_claim', e.claim_id::text) FROM service.service_transaction e
    WHERE e.id = intent AND e.claim_id IS NOT NULL;
  END IF;
END $$;
--> statement-breakpoint
-- After an outcome has changed: tells its waiters, counts strikes, frees or takes back the idempotency key, charges the
-- delegation and the daily limit of the API key.
CREATE FUNCTION service.note_outcome() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE TRIGGER transaction_outcome AFTER UPDATE ON service.transaction FOR EACH ROW
  WHEN (NEW.intent IS NOT NULL AND (NEW.outcome IS DISTINCT FROM OLD.outcome OR NEW.hash IS DISTINCT FROM OLD.hash
    OR NEW.block_hash IS DISTINCT FROM OLD.block_hash OR NEW.final_at IS DISTINCT FROM OLD.final_at))
  EXECUTE FUNCTION service.note_outcome();
--> statement-breakpoint
-- A new purchase counts against its delegation with its quoted premium; a refused one no longer.
CREATE FUNCTION service.note_quoted_premium() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE service.delegation d
  SET premium_spent = d.premium_spent + CASE WHEN NEW.refused_at IS NULL THEN NEW.quoted_premium ELSE -NEW.quoted_premium END
  WHERE d.id = NEW.delegation_id;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER purchase_quoted AFTER INSERT ON service.purchase
  FOR EACH ROW WHEN (NEW.delegation_id IS NOT NULL) EXECUTE FUNCTION service.note_quoted_premium();
--> statement-breakpoint
CREATE TRIGGER purchase_refused AFTER UPDATE OF refused_at ON service.purchase
  FOR EACH ROW WHEN (NEW.delegation_id IS NOT NULL AND OLD.refused_at IS NULL AND NEW.refused_at IS NOT NULL)
  EXECUTE FUNCTION service.note_quoted_premium();
--> statement-breakpoint
-- A refused purchase no longer counts against the daily limit of its API key.
CREATE FUNCTION service.note_refused_premium() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE service.key_premium k SET failed = true WHERE k.purchase_id = NEW.id;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER purchase_refused_premium AFTER UPDATE OF refused_at ON service.purchase
  FOR EACH ROW WHEN (NEW.key_id IS NOT NULL AND OLD.refused_at IS NULL AND NEW.refused_at IS NOT NULL)
  EXECUTE FUNCTION service.note_refused_premium();
--> statement-breakpoint
-- Gas spent in a UTC day, in wei: per wallet whose API keys made purchases, of the keeper (wallet 'keeper'), and in total without
-- the keeper's (wallet ''), because the keeper has a budget of its own. A transaction that is in no block counts with its highest
-- possible cost. Triggers update it in the transaction of each change. Each sender has rows of its own: no two senders wait for
-- each other.
CREATE TABLE service.gas_day (
  chain_id integer NOT NULL,
  day date NOT NULL,
  wallet text NOT NULL,
  -- The wallet of the service that sent the transactions.
  sender text NOT NULL,
  wei numeric(78, 0) NOT NULL,
  PRIMARY KEY (chain_id, day, wallet, sender)
);
--> statement-breakpoint
-- The most gas, in wei, and coverage that a round of a wallet may reserve. A round commits its plan before it reads the plans of other
-- wallets. So of two rounds at the same time one at least sees the other, and together they keep a budget without a lock. The
-- transaction that reserves deletes the plan. A crash of the server ends the plans together with the rounds.
CREATE UNLOGGED TABLE service.round_plan (
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
CREATE FUNCTION service.plans_of_others(of_chain integer, of_wallet text) RETURNS SETOF service.round_plan LANGUAGE sql STABLE AS $$
  SELECT * FROM service.round_plan r
  WHERE r.chain_id = of_chain AND r.wallet <> of_wallet AND r.planned_at > now() - interval '5 minutes'
$$;
--> statement-breakpoint
-- The gas that counts for a transaction: its cost, its reservation while it has none, 0 when it is lost.
CREATE FUNCTION service.gas_of(t service.transaction) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN t.lost_to IS NOT NULL THEN 0 ELSE coalesce(t.gas_cost, t.gas_reserved) END
$$;
--> statement-breakpoint
-- The budget that the gas of a wallet of the service counts for.
CREATE FUNCTION service.gas_account(of_chain integer, of_wallet text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE r.role WHEN 'keeper' THEN 'keeper' ELSE '' END FROM service.relayer_wallet r
  WHERE r.chain_id = of_chain AND r.address = of_wallet
$$;
--> statement-breakpoint
-- Adds gas to the days and wallets that it counts for. It locks the rows of gas_day in one order, after all other rows of
-- the statement, so that no two statements wait for each other.
CREATE FUNCTION service.add_gas(chains integer[], days date[], senders text[], clients text[], weis numeric[]) RETURNS void
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
-- Counts the gas of new transactions, once per statement.
CREATE FUNCTION service.note_gas_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM service.add_gas(array_agg(n.chain_id), array_agg((n.created_at AT TIME ZONE 'utc')::date),
    array_agg(n.wallet), array_agg(n.client), array_agg(service.gas_of(n))) FROM after n;
  RETURN NULL;
END $$;
--> statement-breakpoint
-- Counts how the gas of changed transactions rose or fell, once per statement.
CREATE FUNCTION service.note_gas_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM service.add_gas(array_agg(n.chain_id), array_agg((n.created_at AT TIME ZONE 'utc')::date),
    array_agg(n.wallet), array_agg(n.client), array_agg(service.gas_of(n) - service.gas_of(o)))
  FROM after n JOIN before o ON o.id = n.id WHERE service.gas_of(n) <> service.gas_of(o);
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER transaction_gas_added AFTER INSERT ON service.transaction
  REFERENCING NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION service.note_gas_added();
--> statement-breakpoint
CREATE TRIGGER transaction_gas_changed AFTER UPDATE ON service.transaction
  REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION service.note_gas_changed();

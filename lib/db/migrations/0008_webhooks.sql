-- A subscription: a wallet's choice of events and the URL that receives them.
CREATE TABLE service.webhook (
  id bigserial PRIMARY KEY,
  chain_id integer NOT NULL,
  wallet text NOT NULL CHECK (wallet = lower(wallet)),
  url text NOT NULL,
  -- Names of events, or '*' alone.
  events text[] NOT NULL CHECK (cardinality(events) > 0),
  -- Sealed with SECRETS_KEY. After a rotation the previous secret still signs until its time is over.
  secret text NOT NULL,
  previous_secret text,
  previous_secret_until timestamptz,
  -- The chain's newest block at the creation: the subscription receives the events of later blocks.
  from_block bigint NOT NULL,
  -- The outbox's position at the creation. A later event in a block that it had passed came by a reorganisation.
  passed_block bigint NOT NULL,
  passed_event bigint NOT NULL,
  -- Deleted: invisible to its owner; a chore removes its deliveries, and then the row.
  state text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'undeliverable', 'deleted')),
  -- While undeliverable: it may have missed every event after this one.
  position bigint,
  undeliverable_at timestamptz,
  -- Until when a single writer makes its deliveries, and a token that names this writer.
  lease_until timestamptz NOT NULL DEFAULT '-infinity',
  lease_token uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT webhook_secrets CHECK (num_nonnulls(previous_secret, previous_secret_until) IN (0, 2)),
  CONSTRAINT webhook_state_evidence CHECK (
    num_nonnulls(position, undeliverable_at) = CASE state WHEN 'undeliverable' THEN 2 ELSE 0 END),
  CONSTRAINT webhook_forgotten_secrets CHECK (
    (state = 'deleted') = (secret = '') AND (state <> 'deleted' OR previous_secret IS NULL))
) WITH (fillfactor = 50);
--> statement-breakpoint
CREATE INDEX webhook_wallet ON service.webhook (wallet);
--> statement-breakpoint
-- Subscriptions that receive the burns of every wallet.
CREATE INDEX webhook_burns ON service.webhook (chain_id) WHERE events && ARRAY['*', 'token_burned'] AND state <> 'deleted';
--> statement-breakpoint
CREATE INDEX webhook_deleted ON service.webhook (id) WHERE state = 'deleted';
--> statement-breakpoint
-- Every event that was seen in a block deep enough, in the order in which it was seen.
CREATE TABLE service.event (
  seq bigserial PRIMARY KEY,
  chain_id integer NOT NULL,
  -- The id that subscribers see; it follows from the key and the occurrence.
  id text NOT NULL UNIQUE,
  -- Identifies the event: block hash and log index, product and policy of an expiry, or the id of the event that it reverts.
  key text NOT NULL,
  -- Counts how often the event happened: once more when its block returned after its reversal was sent.
  occurrence integer NOT NULL DEFAULT 1,
  type text NOT NULL,
  block_number bigint,
  block_hash text,
  tx_hash text,
  log_index integer,
  -- The wallets that it concerns, in lower case.
  parties text[] NOT NULL,
  -- The exact bytes that are sent.
  body text NOT NULL,
  -- The event that this one reverts.
  reverts bigint REFERENCES service.event (seq) ON DELETE CASCADE,
  -- When its block was proven to be off the chain.
  reverted_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (chain_id, key, occurrence)
);
--> statement-breakpoint
CREATE INDEX event_block ON service.event (chain_id, block_number);
--> statement-breakpoint
CREATE INDEX event_parties ON service.event USING gin (parties);
--> statement-breakpoint
-- Finds the first event of a replay since a given time.
CREATE INDEX event_created ON service.event (created_at, seq);
--> statement-breakpoint
CREATE INDEX event_burns ON service.event (seq) WHERE type = 'token_burned';
--> statement-breakpoint
CREATE INDEX event_reverts ON service.event (reverts) WHERE reverts IS NOT NULL;
--> statement-breakpoint
-- One event on its way to one subscription.
CREATE TABLE service.delivery (
  id bigserial PRIMARY KEY,
  webhook_id bigint NOT NULL REFERENCES service.webhook (id) ON DELETE CASCADE,
  event_seq bigint NOT NULL REFERENCES service.event (seq),
  -- Cancelled: the event was reverted before it was delivered.
  state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'undeliverable', 'cancelled')),
  -- A sample that the subscriber asked for: it is tried once, apart from the others.
  test boolean NOT NULL DEFAULT false,
  -- Failed attempts of the current retry schedule.
  failures integer NOT NULL DEFAULT 0,
  next_attempt_at timestamptz NOT NULL DEFAULT now(),
  -- When an attempt began whose outcome is not stored yet. After a crash it is unknown whether the attempt was made.
  taken_at timestamptz,
  -- Outcomes of the attempts, oldest first.
  attempts jsonb NOT NULL DEFAULT '[]',
  delivered_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (webhook_id, event_seq),
  CONSTRAINT delivery_evidence CHECK (state <> 'delivered' OR delivered_at IS NOT NULL)
) WITH (fillfactor = 45);
--> statement-breakpoint
CREATE INDEX delivery_pending ON service.delivery (webhook_id, event_seq) WHERE state = 'pending';
--> statement-breakpoint
CREATE INDEX delivery_given_up ON service.delivery (webhook_id, event_seq) WHERE state = 'undeliverable';
--> statement-breakpoint
CREATE INDEX delivery_test ON service.delivery (id) WHERE test AND state = 'pending';
--> statement-breakpoint
CREATE INDEX delivery_event ON service.delivery (event_seq);
--> statement-breakpoint
-- For the prune only: old rows lie together, where they were inserted.
CREATE INDEX delivery_created ON service.delivery USING brin (created_at);
--> statement-breakpoint
-- The outbox's position, one row per chain.
CREATE TABLE service.outbox (
  chain_id integer PRIMARY KEY,
  -- Events of blocks up to this one are recorded, and final.
  final_block bigint NOT NULL,
  -- Expiries up to this time (Unix seconds) are recorded, and final.
  final_time bigint NOT NULL,
  -- The newest block with events recorded in any pass.
  passed_block bigint NOT NULL,
  -- Rises with each pass that wrote: of two concurrent passes, the second finds it changed and starts again.
  pass bigint NOT NULL DEFAULT 0,
  passed_at timestamptz NOT NULL DEFAULT now()
);
--> statement-breakpoint
-- Whether a subscription may have received an event: an attempt was made, or may have been.
CREATE FUNCTION service.may_know(w bigint, e bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (
    SELECT 1 FROM service.delivery d
    WHERE d.webhook_id = w AND d.event_seq = e AND (d.attempts <> '[]' OR d.taken_at IS NOT NULL))
$$;
--> statement-breakpoint
-- Whether a subscription covers an event, whatever happened to its delivery. The outbox, retries and replays all use this
-- rule. It is a single expression without a query, so that Postgres inlines it.
CREATE FUNCTION service.is_for(e service.event, w service.webhook) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT CASE
    WHEN e.chain_id <> w.chain_id OR e.block_number IS NULL THEN false
    -- A reversal goes to those that may have received the event.
    WHEN e.reverts IS NOT NULL THEN service.may_know(w.id, e.reverts)
    ELSE e.reverted_at IS NULL
      AND (w.wallet = ANY (e.parties) OR e.type = 'token_burned')
      AND w.events && ARRAY['*', e.type]
      AND (e.block_number > w.from_block OR (e.block_number <= w.passed_block AND e.seq > w.passed_event))
  END
$$;

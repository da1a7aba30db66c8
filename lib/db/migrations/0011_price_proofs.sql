-- A request for a signed price, with the writer's answer. The request is the asset alone: price and times are what the writer
-- itself read.
CREATE TABLE service.price_proof (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  chain_id integer NOT NULL,
  asset text NOT NULL CHECK (asset IN ('BTC', 'ETH')),
  state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'signed', 'failed')),
  -- As the feed has it, with the feed's decimals.
  price numeric,
  decimals integer,
  -- Unix seconds: the writer's clock, and the feed's last update.
  verified_at bigint,
  feed_updated_at bigint,
  signer text CHECK (signer = lower(signer)),
  signature text,
  failure_code text CHECK (failure_code IN ('chain_not_found', 'oracle_stale', 'sequencer_down')),
  failure_message text,
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT price_proof_evidence CHECK (
    num_nonnulls(price, decimals, verified_at, feed_updated_at, signer, signature) = CASE state WHEN 'signed' THEN 6 ELSE 0 END
    AND num_nonnulls(failure_code, failure_message) = CASE state WHEN 'failed' THEN 2 ELSE 0 END)
);
--> statement-breakpoint
CREATE INDEX price_proof_pending ON service.price_proof (chain_id) WHERE state = 'pending';
--> statement-breakpoint
-- For the prune.
CREATE INDEX price_proof_created ON service.price_proof (created_at);
--> statement-breakpoint
-- Wakes the writers for a request, and the api's waiting callers for an answer.
CREATE FUNCTION service.announce_price_proof() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify(CASE NEW.state WHEN 'pending' THEN 'service_price_request' ELSE 'service_price_proof' END, NEW.id::text);
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER price_proof_announced AFTER INSERT OR UPDATE OF state ON service.price_proof
FOR EACH ROW EXECUTE FUNCTION service.announce_price_proof();
--> statement-breakpoint
-- The keys that writers sign prices with. A writer renews its row while it lives.
CREATE TABLE service.oracle_signer (
  chain_id integer NOT NULL,
  address text NOT NULL CHECK (address = lower(address)),
  heartbeat_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (chain_id, address)
);

-- Calls that the service makes for itself: on the testnet the faucet's transfers and the upkeep of the sandbox's wallet.

-- A claim to a grant of the faucet: both of its transfers, or none. Its client is an address, or the /64 of an IPv6 one.
CREATE TABLE service.faucet_claim (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  chain_id integer NOT NULL,
  -- The wallet that pays, and the one that receives.
  faucet text NOT NULL CHECK (faucet ~ '^0x[0-9a-f]{40}$'),
  wallet text NOT NULL CHECK (wallet ~ '^0x[0-9a-f]{40}$'),
  -- Null once the address limits nothing any more: an address is personal data.
  client text,
  -- Truncated to milliseconds, so that the API can state it exactly.
  claimed_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', now()),
  -- Until then the call that made the claim waits for its outcome.
  awaited_until timestamptz NOT NULL,
  -- When a caller received the outcome.
  told_at timestamptz,
  -- When the claim's slots were given back, because nothing was sent and nothing can be.
  freed_at timestamptz
);
--> statement-breakpoint
CREATE INDEX faucet_claim_time ON service.faucet_claim (chain_id, claimed_at);
--> statement-breakpoint
-- Freed claims are deleted after a time.
CREATE INDEX faucet_claim_freed ON service.faucet_claim (freed_at) WHERE freed_at IS NOT NULL;
--> statement-breakpoint
-- A client's freed claims.
CREATE INDEX faucet_claim_client_freed ON service.faucet_claim (chain_id, client, freed_at) WHERE freed_at IS NOT NULL;
--> statement-breakpoint
CREATE TABLE service.service_transaction (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  chain_id integer NOT NULL,
  -- The wallet that sends it.
  sender text NOT NULL CHECK (sender ~ '^0x[0-9a-f]{40}$'),
  purpose text NOT NULL CHECK (purpose IN ('faucet_ether', 'faucet_usdc', 'sandbox_ether', 'sandbox_usdc', 'sandbox_approval')),
  claim_id uuid REFERENCES service.faucet_claim (id),
  "to" text NOT NULL CHECK ("to" ~ '^0x[0-9a-f]{40}$'),
  data text NOT NULL CHECK (data ~ '^0x([0-9a-f]{2})*$'),
  -- In wei.
  value numeric(78, 0) NOT NULL CHECK (value >= 0),
  state text NOT NULL DEFAULT 'accepted',
  failure_code text,
  failure_message text,
  tx_hash text CHECK (tx_hash ~ '^0x[0-9a-f]{64}$'),
  block_number bigint,
  block_hash text CHECK (block_hash ~ '^0x[0-9a-f]{64}$'),
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  -- When a writer may look at it again.
  wake_at timestamptz NOT NULL DEFAULT now(),
  -- As for a purchase: when the outcome's block was deep enough, or nothing was ever signed.
  final_at timestamptz,
  CHECK ((purpose LIKE 'faucet%') = (claim_id IS NOT NULL)),
  UNIQUE (claim_id, purpose),
  CONSTRAINT service_transaction_state_evidence CHECK (CASE state
    WHEN 'accepted' THEN num_nonnulls(tx_hash, block_number, block_hash, failure_code, failure_message, final_at) = 0
    WHEN 'signed' THEN tx_hash IS NOT NULL AND num_nonnulls(block_number, block_hash, failure_code, failure_message, final_at) = 0
    WHEN 'broadcast' THEN tx_hash IS NOT NULL AND num_nonnulls(block_number, block_hash, failure_code, failure_message, final_at) = 0
    WHEN 'mined' THEN num_nulls(tx_hash, block_number, block_hash) = 0 AND num_nonnulls(failure_code, failure_message, final_at) = 0
    WHEN 'confirmed' THEN num_nulls(tx_hash, block_number, block_hash, final_at) = 0 AND num_nonnulls(failure_code, failure_message) = 0
    WHEN 'failed' THEN num_nulls(failure_code, failure_message) = 0
      AND (num_nulls(tx_hash, block_number, block_hash) = 0
        OR (num_nonnulls(tx_hash, block_number, block_hash) = 0 AND final_at IS NOT NULL))
    ELSE false
  END)
);
--> statement-breakpoint
-- One open upkeep service transaction per purpose and sender, however many writers see the need.
CREATE UNIQUE INDEX service_transaction_upkeep ON service.service_transaction (chain_id, purpose, sender)
  WHERE claim_id IS NULL AND state IN ('accepted', 'signed', 'broadcast');
--> statement-breakpoint
CREATE INDEX service_transaction_upkeep_last ON service.service_transaction (chain_id, purpose, created_at) WHERE claim_id IS NULL;
--> statement-breakpoint
CREATE INDEX service_transaction_accepted ON service.service_transaction (chain_id, sender, wake_at) WHERE state = 'accepted';
--> statement-breakpoint
CREATE INDEX service_transaction_unconfirmed ON service.service_transaction (chain_id, block_number)
  WHERE final_at IS NULL AND block_number IS NOT NULL;
--> statement-breakpoint
-- The funds that a faucet's wallet has promised: service transactions in no block, and service transactions in blocks above its known balance.
CREATE INDEX service_transaction_promised ON service.service_transaction (chain_id, sender) WHERE state IN ('accepted', 'signed', 'broadcast');
--> statement-breakpoint
CREATE INDEX service_transaction_mined ON service.service_transaction (chain_id, sender, block_number) WHERE block_number IS NOT NULL;
--> statement-breakpoint
-- Failed service transactions by the time of their failure.
CREATE INDEX service_transaction_failed ON service.service_transaction (updated_at) WHERE state = 'failed';
--> statement-breakpoint
-- Notifies the calls that wait for a claim when one of its transfers is mined, confirmed or failed.
CREATE FUNCTION service.announce_claim() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('service_claim', NEW.claim_id::text);
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER service_transaction_claim AFTER UPDATE ON service.service_transaction FOR EACH ROW
  WHEN (NEW.claim_id IS NOT NULL AND NEW.state IN ('mined', 'confirmed', 'failed') AND NEW.state <> OLD.state)
  EXECUTE FUNCTION service.announce_claim();
--> statement-breakpoint
-- The sandbox's wallet as a writer last checked it: USDC with 6 decimals, ether in wei, whether this is enough to buy, and
-- why the upkeep cannot keep it so, if it cannot.
CREATE TABLE service.sandbox_wallet (
  chain_id integer NOT NULL,
  wallet text NOT NULL CHECK (wallet ~ '^0x[0-9a-f]{40}$'),
  usdc numeric(78, 0) NOT NULL,
  allowance numeric(78, 0) NOT NULL,
  ether numeric(78, 0) NOT NULL,
  can_buy boolean NOT NULL,
  fault text,
  checked_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (chain_id, wallet),
  CHECK (can_buy OR fault IS NOT NULL)
);

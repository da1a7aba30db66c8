-- Calls that the service makes for itself: the keeper's, and on the testnet the faucet's transfers and the upkeep of the sandbox's
-- wallet.

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
  purpose text NOT NULL CHECK (purpose IN ('faucet_ether', 'faucet_usdc', 'sandbox_ether', 'sandbox_usdc', 'sandbox_approval',
    'keeper_trigger', 'keeper_expire', 'keeper_queue')),
  claim_id uuid REFERENCES service.faucet_claim (id),
  "to" text NOT NULL CHECK ("to" ~ '^0x[0-9a-f]{40}$'),
  data text NOT NULL CHECK (data ~ '^0x([0-9a-f]{2})*$'),
  -- In wei.
  value numeric(78, 0) NOT NULL CHECK (value >= 0),
  created_at timestamptz NOT NULL DEFAULT now(),
  -- As for a purchase: why nothing was signed, and since when that is certain.
  failure_code text,
  failure_message text,
  refused_at timestamptz,
  CHECK ((purpose LIKE 'faucet%') = (claim_id IS NOT NULL)),
  UNIQUE (claim_id, purpose),
  CONSTRAINT service_transaction_refusal CHECK (num_nonnulls(failure_code, failure_message, refused_at) IN (0, 3))
);
--> statement-breakpoint
CREATE INDEX service_transaction_upkeep_last ON service.service_transaction (chain_id, purpose, created_at) WHERE claim_id IS NULL;
--> statement-breakpoint
-- Refused service transactions by the time of their refusal.
CREATE INDEX service_transaction_refused ON service.service_transaction (refused_at) WHERE refused_at IS NOT NULL;
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

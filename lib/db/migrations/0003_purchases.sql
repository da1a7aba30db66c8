-- A buyer's permission for another wallet's keys to spend its premiums, up to a cap.
CREATE TABLE service.delegation (
  id bigserial PRIMARY KEY,
  chain_id integer NOT NULL,
  -- The cover router that the buyer's signature names; the permission is for this router only.
  router text NOT NULL CHECK (router ~ '^0x[0-9a-f]{40}$'),
  buyer text NOT NULL CHECK (buyer ~ '^0x[0-9a-f]{40}$'),
  agent text NOT NULL CHECK (agent ~ '^0x[0-9a-f]{40}$'),
  -- USDC base units (6 decimals).
  total_premium_cap numeric(78, 0) NOT NULL CHECK (total_premium_cap > 0),
  expires_at timestamptz NOT NULL,
  nonce numeric(78, 0) NOT NULL CHECK (nonce >= 0),
  -- The EIP-712 digest that the buyer signed: it is accepted only once, also after a revocation.
  digest text NOT NULL UNIQUE CHECK (digest ~ '^0x[0-9a-f]{64}$'),
  created_at timestamptz NOT NULL DEFAULT now(),
  revoked_at timestamptz,
  -- Premiums that were spent under it, or may still be (6 decimals). The trigger purchase_premium keeps it up to date in
  -- the transaction of each change, so that no reader has to sum up a long history.
  premium_spent numeric(78, 0) NOT NULL DEFAULT 0,
  CHECK (buyer <> agent)
);
--> statement-breakpoint
CREATE INDEX delegation_buyer ON service.delegation (buyer, agent);
--> statement-breakpoint
CREATE INDEX delegation_agent ON service.delegation (agent);
--> statement-breakpoint
-- A purchase: its request and, if it was refused before a transaction was signed, the reason. Once a transaction refers to it
-- (service.transaction.intent), that transaction has its state and outcome. The view service.purchase_progress joins both.
CREATE TABLE service.purchase (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  chain_id integer NOT NULL,
  wallet text NOT NULL CHECK (wallet ~ '^0x[0-9a-f]{40}$'),
  -- Null for a purchase of the sandbox, which uses no key.
  key_id bigint REFERENCES service.api_key (id),
  idempotency_key text CHECK (length(idempotency_key) BETWEEN 1 AND 128),
  fingerprint text NOT NULL,
  product_id text NOT NULL CHECK (product_id ~ '^0x[0-9a-f]{64}$'),
  coverage_amount numeric(78, 0) NOT NULL CHECK (coverage_amount > 0),
  asset text NOT NULL CHECK (asset ~ '^0x[0-9a-f]{64}$'),
  buyer text NOT NULL CHECK (buyer ~ '^0x[0-9a-f]{40}$'),
  -- The premium that was quoted at acceptance (USDC, 6 decimals). While the purchase is open, it holds this much of the
  -- buyer's funds.
  quoted_premium numeric(78, 0) NOT NULL DEFAULT 0 CHECK (quoted_premium >= 0),
  -- The permission under which a key of another wallet spends the buyer's funds.
  delegation_id bigint REFERENCES service.delegation (id),
  created_at timestamptz NOT NULL DEFAULT now(),
  -- Whether a repeated call is answered with this purchase. With an idempotency key: until the key is free again, because
  -- nothing was bought and nothing can be. Without one: until a caller has received the outcome.
  standing boolean NOT NULL DEFAULT true,
  -- Why nothing was signed, and since when that is certain.
  failure_code text,
  failure_message text,
  refused_at timestamptz,
  CONSTRAINT purchase_refusal CHECK (num_nonnulls(failure_code, failure_message, refused_at) IN (0, 3)),
  CONSTRAINT purchase_refused_stands CHECK (refused_at IS NULL OR NOT standing)
);
--> statement-breakpoint
-- One purchase per wallet and idempotency key.
CREATE UNIQUE INDEX purchase_idempotency ON service.purchase (wallet, idempotency_key)
  WHERE idempotency_key IS NOT NULL AND standing;
--> statement-breakpoint
-- Without a key: one purchase per wallet and content until a caller receives its outcome.
CREATE UNIQUE INDEX purchase_open_without_key ON service.purchase (wallet, chain_id, fingerprint)
  WHERE idempotency_key IS NULL AND standing;
--> statement-breakpoint
-- The permit (EIP-2612) that a purchase came with: its buyer's signature that sets the allowance of the chain's cover router. It
-- is sent before the purchase where the allowance is lower.
CREATE TABLE service.permit (
  -- The intent of its transaction.
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  purchase_id uuid NOT NULL UNIQUE REFERENCES service.purchase (id) ON DELETE CASCADE,
  -- USDC base units (6 decimals).
  value numeric(78, 0) NOT NULL CHECK (value > 0),
  -- Unix seconds.
  deadline numeric(78, 0) NOT NULL CHECK (deadline > 0),
  signature text NOT NULL CHECK (signature ~ '^0x([0-9a-f]{2})*$')
);
--> statement-breakpoint
-- What the purchases of keys with a daily limit count against it.
CREATE TABLE service.key_premium (
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
CREATE INDEX key_premium_day ON service.key_premium (key_id, day);
--> statement-breakpoint
-- Refused purchases by the time of their refusal.
CREATE INDEX purchase_refused ON service.purchase (chain_id, refused_at) WHERE refused_at IS NOT NULL;
--> statement-breakpoint
-- Purchases that have been final for a long time, each with its outcome: service.archive_purchases moves them here from
-- service.purchase, service.transaction and service.attempt. Rows stay for good and are found by id or key alone, so that
-- partitions by month would only add lookups, and could not keep keys unique.
CREATE TABLE service.archived_purchase (
  id uuid PRIMARY KEY,
  chain_id integer NOT NULL,
  wallet text NOT NULL,
  key_id bigint,
  idempotency_key text,
  fingerprint text NOT NULL,
  product_id text NOT NULL,
  coverage_amount numeric(78, 0) NOT NULL,
  asset text NOT NULL,
  buyer text NOT NULL,
  quoted_premium numeric(78, 0) NOT NULL,
  delegation_id bigint,
  created_at timestamptz NOT NULL,
  standing boolean NOT NULL,
  state text NOT NULL CHECK (state IN ('confirmed', 'failed', 'replaced')),
  tx_hash text,
  block_number bigint,
  block_hash text,
  policy_id numeric(78, 0),
  premium_paid numeric(78, 0),
  failure_code text,
  failure_message text,
  settled_at timestamptz NOT NULL,
  final_at timestamptz NOT NULL,
  -- See service.transaction_history. The signed bytes are not kept: their nonces are used for good.
  transactions json NOT NULL
);
--> statement-breakpoint
-- A key that an archived purchase holds answers with it, and buys nothing else.
CREATE UNIQUE INDEX archived_purchase_idempotency ON service.archived_purchase (wallet, idempotency_key)
  WHERE idempotency_key IS NOT NULL AND standing;

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
-- A purchase: the request, its state, and the evidence for that state. The checks make it impossible to store a state
-- without its evidence.
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
  quoted_premium numeric(78, 0) NOT NULL DEFAULT 0,
  -- The permission under which a key of another wallet spends the buyer's funds.
  delegation_id bigint REFERENCES service.delegation (id),
  -- Replaced: the purchase waited too long, and an empty transfer was mined on its nonce, so it bought nothing.
  state text NOT NULL DEFAULT 'accepted',
  failure_code text,
  failure_message text,
  tx_hash text CHECK (tx_hash ~ '^0x[0-9a-f]{64}$'),
  block_number bigint,
  block_hash text CHECK (block_hash ~ '^0x[0-9a-f]{64}$'),
  policy_id numeric(78, 0),
  premium_paid numeric(78, 0),
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  -- Whether an identical call without an idempotency key joins this purchase: true until a caller receives the outcome.
  joinable boolean NOT NULL DEFAULT true,
  -- When the sweeper may wake the writer for this row again.
  wake_at timestamptz NOT NULL DEFAULT now() + interval '5 seconds',
  -- When the outcome became final: its block is deep enough, or nothing was ever signed.
  final_at timestamptz,
  CONSTRAINT purchase_state_evidence CHECK (CASE state
    WHEN 'accepted' THEN num_nonnulls(tx_hash, block_number, block_hash, policy_id, premium_paid, failure_code, failure_message, final_at) = 0
    WHEN 'signed' THEN tx_hash IS NOT NULL AND num_nonnulls(block_number, block_hash, policy_id, premium_paid, failure_code, failure_message, final_at) = 0
    WHEN 'broadcast' THEN tx_hash IS NOT NULL AND num_nonnulls(block_number, block_hash, policy_id, premium_paid, failure_code, failure_message, final_at) = 0
    WHEN 'mined' THEN num_nulls(tx_hash, block_number, block_hash, policy_id, premium_paid) = 0 AND num_nonnulls(failure_code, failure_message, final_at) = 0
    WHEN 'confirmed' THEN num_nulls(tx_hash, block_number, block_hash, policy_id, premium_paid, final_at) = 0 AND num_nonnulls(failure_code, failure_message) = 0
    WHEN 'replaced' THEN num_nulls(tx_hash, block_number, block_hash, failure_code, failure_message) = 0 AND num_nonnulls(policy_id, premium_paid) = 0
    -- A failure needs evidence: either nothing was ever signed, or the transaction reverted in this block.
    WHEN 'failed' THEN num_nulls(failure_code, failure_message) = 0 AND num_nonnulls(policy_id, premium_paid) = 0
      AND (num_nulls(tx_hash, block_number, block_hash) = 0
        OR (num_nonnulls(tx_hash, block_number, block_hash) = 0 AND final_at IS NOT NULL))
    ELSE false
  END),
  CONSTRAINT purchase_joinable CHECK (NOT joinable
    OR NOT ((state = 'failed' AND tx_hash IS NULL) OR (state = 'replaced' AND final_at IS NOT NULL)))
);
--> statement-breakpoint
-- One purchase per wallet and idempotency key. The key is free again after a failure without a transaction, or a final replacement.
CREATE UNIQUE INDEX purchase_idempotency ON service.purchase (wallet, idempotency_key)
  WHERE idempotency_key IS NOT NULL AND NOT (state = 'failed' AND tx_hash IS NULL)
    AND NOT (state = 'replaced' AND final_at IS NOT NULL);
--> statement-breakpoint
-- Without a key: one purchase per wallet and content until a caller receives its outcome.
CREATE UNIQUE INDEX purchase_open_without_key ON service.purchase (wallet, chain_id, fingerprint)
  WHERE idempotency_key IS NULL AND joinable;
--> statement-breakpoint
CREATE INDEX purchase_accepted ON service.purchase (wake_at) WHERE state = 'accepted';
--> statement-breakpoint
CREATE INDEX purchase_unconfirmed ON service.purchase (chain_id, block_number)
  WHERE final_at IS NULL AND block_number IS NOT NULL;
--> statement-breakpoint
-- A buyer's open purchases.
CREATE INDEX purchase_buyer_open ON service.purchase (buyer) WHERE state IN ('accepted', 'signed', 'broadcast');
--> statement-breakpoint
-- A buyer's purchases in blocks after the block of its funds.
CREATE INDEX purchase_buyer_bought ON service.purchase (buyer, block_number) WHERE premium_paid IS NOT NULL;
--> statement-breakpoint
CREATE INDEX purchase_reverted ON service.purchase (wallet, updated_at) WHERE state = 'failed' AND tx_hash IS NOT NULL;
--> statement-breakpoint
-- What a purchase counts against its delegation: the premium paid, 0 after a final failure, the quoted premium until then.
CREATE FUNCTION service.premium_of(p service.purchase) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN p.premium_paid IS NOT NULL THEN p.premium_paid
    WHEN p.state IN ('failed', 'replaced') AND p.final_at IS NOT NULL THEN 0 ELSE p.quoted_premium END
$$;
--> statement-breakpoint
-- Adds the change of a purchase's premium to its delegation. The update locks the delegation's row, so that concurrent
-- changes add up.
CREATE FUNCTION service.note_premium() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  change numeric := service.premium_of(NEW) - CASE TG_OP WHEN 'UPDATE' THEN service.premium_of(OLD) ELSE 0 END;
BEGIN
  IF change <> 0 THEN
    UPDATE service.delegation SET premium_spent = premium_spent + change WHERE id = NEW.delegation_id;
  END IF;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER purchase_premium AFTER INSERT OR UPDATE ON service.purchase
  FOR EACH ROW WHEN (NEW.delegation_id IS NOT NULL) EXECUTE FUNCTION service.note_premium();

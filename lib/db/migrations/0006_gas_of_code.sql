-- Whose code a call runs in the block, on the service's gas: a contract that receives a payout's bonds, or checks its own permit. Null:
-- nobody's. Its gas counts for a share of the day's budget.
ALTER TABLE service.transaction ADD COLUMN runs_code_of text CHECK (runs_code_of ~ '^0x[0-9a-f]{40}$');
ALTER TABLE service.service_transaction
  ADD COLUMN runs_code_of text CHECK (runs_code_of ~ '^0x[0-9a-f]{40}$'),
  -- The gas limit that is fixed when it is recorded; null: that of its estimate, with a margin.
  ADD COLUMN gas_limit bigint CHECK (gas_limit > 0);

-- Payouts that failed in a block although they were alone in their transaction: each cost the keeper gas.
CREATE TABLE service.receiver_failure (
  service_transaction_id uuid PRIMARY KEY,
  chain_id integer NOT NULL,
  -- The buyer, who would have received the bonds.
  receiver text NOT NULL,
  -- Those of one block count once: their reason may be a common one.
  block_number bigint NOT NULL,
  failed_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX receiver_failure_receiver ON service.receiver_failure (receiver, chain_id, failed_at);

-- Policies of buyers with code that the running audit counts as missed: in a block that code may have refused its bonds.
ALTER TABLE service.keeper_audit ADD COLUMN missed_contracts bigint NOT NULL DEFAULT 0;

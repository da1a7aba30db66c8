-- Redemptions, listings and purchases of bonds that a wallet has sent itself and reported. The same report is one row.
CREATE TABLE service.report (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  chain_id integer NOT NULL,
  kind text NOT NULL CHECK (kind IN ('redeem', 'list', 'buy')),
  wallet text NOT NULL CHECK (wallet ~ '^0x[0-9a-f]{40}$'),
  tx_hash text NOT NULL CHECK (tx_hash ~ '^0x[0-9a-f]{64}$'),
  -- What the wallet reports of the event, as decimal strings.
  content jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- The event, and the block that it was found in; null while there is none.
  record jsonb,
  block_number bigint,
  block_hash text CHECK (block_hash ~ '^0x[0-9a-f]{64}$'),
  -- True once the node calls the block final: it is not compared with the chain any more.
  final boolean NOT NULL DEFAULT false,
  CHECK (num_nulls(record, block_number, block_hash) IN (0, 3)),
  CHECK (record IS NOT NULL OR NOT final)
);
--> statement-breakpoint
CREATE UNIQUE INDEX report_once ON service.report (chain_id, tx_hash, kind, wallet, content);
--> statement-breakpoint
-- For the deletion of old ones.
CREATE INDEX report_pending ON service.report (created_at) WHERE record IS NULL;

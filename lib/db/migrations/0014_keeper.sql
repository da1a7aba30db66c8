-- What the keeper does for a policy: it triggers one that is due, or marks an expired one. For the redemption queue it pays the
-- entry at its head. One row per purpose and policy, or entry, so that no two writers do it at once.
CREATE TABLE service.keeper_task (
  chain_id integer NOT NULL,
  purpose text NOT NULL CHECK (purpose IN ('trigger', 'expire', 'queue')),
  -- Empty for the redemption queue.
  product_id text NOT NULL CHECK (CASE purpose WHEN 'queue' THEN product_id = '' ELSE product_id ~ '^0x[0-9a-f]{64}$' END),
  -- Of the redemption queue: the entry's id.
  policy_id numeric(78, 0) NOT NULL,
  -- The newest service transaction that carries it out, perhaps with others; null since that one has failed at it.
  service_transaction_id uuid REFERENCES service.service_transaction (id),
  created_at timestamptz NOT NULL DEFAULT now(),
  -- How often in a row it has failed, why, and when it may be tried again.
  failures integer NOT NULL DEFAULT 0,
  failure text,
  retry_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (chain_id, purpose, product_id, policy_id),
  CONSTRAINT keeper_task_failure CHECK ((failures > 0) = (failure IS NOT NULL))
);
--> statement-breakpoint
CREATE INDEX keeper_task_transaction ON service.keeper_task (service_transaction_id);
--> statement-breakpoint
-- When a keeper of the chain was at work, in the time of the chain's blocks (Unix seconds). Between two rows none was: what was
-- missed then, the service's own downtime cost.
CREATE TABLE service.keeper_watch (
  chain_id integer NOT NULL,
  since numeric(78, 0) NOT NULL,
  until numeric(78, 0) NOT NULL CHECK (until >= since),
  -- When a keeper has last looked, by the clock. After a minute without a look the next one begins a new row.
  seen_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (chain_id, since)
);
--> statement-breakpoint
-- The running audit: policies that ended in blocks up to audited_to, and were missed, counted by the chain alone.
CREATE TABLE service.keeper_audit (
  chain_id integer PRIMARY KEY,
  audited_to bigint NOT NULL,
  missed bigint NOT NULL DEFAULT 0,
  missed_while_down bigint NOT NULL DEFAULT 0,
  -- Payable by the audit's reasoning, and refused by the contracts.
  refused bigint NOT NULL DEFAULT 0,
  -- Met the price, and no block could have paid them: how many by reason.
  never_payable jsonb NOT NULL DEFAULT '{}'
);

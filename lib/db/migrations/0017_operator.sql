-- Which way a stop was set. A process that does not know the column says the same: Postgres knows its role.
ALTER TABLE service.stop ADD COLUMN set_by text NOT NULL
  DEFAULT CASE current_user WHEN 'cover_api' THEN 'api' ELSE 'command line' END CHECK (set_by IN ('api', 'command line'));
--> statement-breakpoint
-- The most that gas may cost in a UTC day, in wei, as the writer that started last has it: 'service' and 'keeper' as in gas_day, where
-- 'service' is '', and 'client', for each wallet whose API keys make purchases.
CREATE TABLE service.gas_budget (
  chain_id integer NOT NULL,
  account text NOT NULL CHECK (account IN ('service', 'keeper', 'client')),
  wei numeric(78, 0) NOT NULL CHECK (wei >= 0),
  stated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (chain_id, account)
);
--> statement-breakpoint
-- Pages of the operator's lists: a wallet's keys by id, undeliverable webhooks, the keeper's failed work with the most failures
-- first, and the newest service transactions.
DROP INDEX service.api_key_wallet;
--> statement-breakpoint
CREATE INDEX api_key_wallet ON service.api_key (wallet, id);
--> statement-breakpoint
CREATE INDEX webhook_undeliverable ON service.webhook (chain_id, id) WHERE state = 'undeliverable';
--> statement-breakpoint
CREATE INDEX keeper_task_failed ON service.keeper_task (chain_id, failures, purpose, product_id, policy_id)
  WHERE failures > 0 AND service_transaction_id IS NULL;
--> statement-breakpoint
CREATE INDEX service_transaction_created ON service.service_transaction (created_at);

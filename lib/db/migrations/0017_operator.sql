-- For the operator, whom the api shows it: the most that the day's gas may cost, in wei, as the wallet's writer was configured when
-- it took the lease: for all of the wallet's account (see service.gas_account), and for the purchases of one client's keys.
ALTER TABLE service.relayer_wallet
  ADD COLUMN gas_budget numeric(78, 0),
  ADD COLUMN client_gas_budget numeric(78, 0);
--> statement-breakpoint
-- Finds the clients that may be paused.
CREATE INDEX strike_time ON service.strike (struck_at);
--> statement-breakpoint
-- Pages of the operator's lists: undeliverable webhooks, the keeper's failed work with the most failures first, and the newest
-- service transactions.
CREATE INDEX webhook_undeliverable ON service.webhook (id) WHERE state = 'undeliverable';
--> statement-breakpoint
CREATE INDEX keeper_task_failed ON service.keeper_task (failures, retry_at) WHERE failures > 0 AND service_transaction_id IS NULL;
--> statement-breakpoint
CREATE INDEX service_transaction_created ON service.service_transaction (created_at);

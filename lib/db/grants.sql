-- What the api may do in the schema `service`; everything else is the writer's, which migrates and owns it all. Applied at
-- each start of a writer or an indexer: whatever is not granted here is taken back. A new table or function is closed to the api.
--
-- The api records what its callers ask for. What became of it is the writer's to record: states, signed transactions, gas,
-- events, deliveries. Columns that are not named have their default, or are the writer's.
REVOKE ALL ON SCHEMA service FROM PUBLIC, cover_api;
REVOKE ALL ON ALL TABLES IN SCHEMA service FROM PUBLIC, cover_api;
REVOKE ALL ON ALL SEQUENCES IN SCHEMA service FROM PUBLIC, cover_api;
REVOKE ALL ON ALL ROUTINES IN SCHEMA service FROM PUBLIC, cover_api;

GRANT USAGE ON SCHEMA service TO cover_api;

-- Whether the schema is up to date.
GRANT SELECT ON service.migration TO cover_api;

-- API keys and the signatures that were used to create them; old signatures are deleted. A key's limits are never changed.
GRANT SELECT, INSERT (key_hash, wallet, label, tier, scopes, products, max_premium_per_purchase, max_premium_per_day), UPDATE (last_used_at, revoked_at) ON service.api_key TO cover_api;
GRANT USAGE ON SEQUENCE service.api_key_id_seq TO cover_api;
GRANT SELECT, INSERT, DELETE ON service.onboarding_signature TO cover_api;

-- Request counts.
GRANT SELECT, INSERT, UPDATE, DELETE ON service.rate_limit TO cover_api;

-- Whether an index is being built or served.
GRANT SELECT ON service.indexer_deployment TO cover_api;

-- Delegations, and their revocation. What was spent under them is the trigger's to add up.
GRANT SELECT, INSERT (chain_id, router, buyer, agent, total_premium_cap, expires_at, nonce, digest), UPDATE (revoked_at)
  ON service.delegation TO cover_api;
GRANT USAGE ON SEQUENCE service.delegation_id_seq TO cover_api;

-- Purchases as they are accepted; a trigger lets the api insert none without an active key, or without a delegation of another
-- buyer. Later the api notes only that a caller has the outcome, or that the queue is down. The writer alone signs them, after the
-- same check, and records their outcomes.
GRANT SELECT, INSERT (chain_id, wallet, key_id, idempotency_key, fingerprint, product_id, coverage_amount, asset, buyer,
    quoted_premium, delegation_id), UPDATE (answers_repeats)
  ON service.purchase TO cover_api;
GRANT SELECT, INSERT (purchase_id, value, deadline, signature) ON service.permit TO cover_api;
GRANT INSERT (purchase_id, traceparent) ON service.purchase_trace TO cover_api;
GRANT SELECT, INSERT (purchase_id, key_id, day, premium) ON service.key_premium TO cover_api;
GRANT SELECT, UPDATE (wake_at) ON service.waiting TO cover_api;
GRANT SELECT ON service.transaction, service.buyer_revert, service.archived_purchase TO cover_api;
GRANT SELECT ON service.purchase_progress, service.service_transaction_progress TO cover_api;
GRANT SELECT ON service.relayer_wallet, service.watched_block, service.sandbox_wallet TO cover_api;
GRANT EXECUTE ON FUNCTION service.stopped_by, service.paused_until, service.lock_buyer, service.existing_purchase,
  service.is_outcome_old, service.progress_of, service.mined_up_to, service.in_flight, service.transactions_from,
  service.lock_key, service.premium_of_day, service.limited_by, service.delegation_in_force, service.has_permit_in_flight, service.bought_by, service.wanted_purchases,
  service.accept_purchases, service.lacked_by TO cover_api;

-- Stops: the api sets them, and can neither change nor lift one.
GRANT SELECT, INSERT (scope, subject, reason) ON service.stop TO cover_api;

-- What the operator is shown of the ledger and the keeper, and everybody of the keeper's audit. The signed bytes are the writer's.
GRANT SELECT (id, transaction_id, hash, max_fee, priority_fee, last_broadcast_at, cancels, untaken) ON service.attempt TO cover_api;
GRANT SELECT (chain_id, purpose, product_id, policy_id, service_transaction_id, failures, failure, retry_at)
  ON service.keeper_task TO cover_api;
GRANT SELECT ON service.gas_day, service.keeper_watch, service.keeper_audit TO cover_api;

-- Claims to the faucet with their slots and their two transfers, which the writer signs. Freed claims are deleted with their
-- transfers after two days. Policies of the table allow only the two transfers of a claim, with at most one grant of ether,
-- and let only refused ones be deleted.
GRANT SELECT, INSERT (chain_id, faucet, wallet, client, awaited_until), UPDATE (client, awaited_until, told_at), DELETE
  ON service.faucet_claim TO cover_api;
GRANT SELECT, INSERT, UPDATE (claim_id, until), DELETE ON service.faucet_slot TO cover_api;
GRANT SELECT, INSERT, UPDATE (claims) ON service.faucet_day TO cover_api;
GRANT SELECT, INSERT (chain_id, sender, purpose, claim_id, "to", data, value), DELETE
  ON service.service_transaction TO cover_api;
GRANT EXECUTE ON FUNCTION service.faucet_limit, service.claim_faucet TO cover_api;

-- Reports of what wallets sent themselves, and what the chain shows of it; old pending ones are deleted.
GRANT SELECT, DELETE, INSERT (chain_id, kind, wallet, tx_hash, content, record, block_number, block_hash),
    UPDATE (record, block_number, block_hash, final)
  ON service.report TO cover_api;

-- Subscriptions: creation, deletion, new secrets, and the end of being undeliverable. The lease is the writer's.
GRANT SELECT, INSERT (chain_id, wallet, url, events, secret, from_block, processed_block, processed_event),
    UPDATE (state, position, undeliverable_at, secret, previous_secret, previous_secret_until)
  ON service.webhook TO cover_api;
GRANT USAGE ON SEQUENCE service.webhook_id_seq TO cover_api;
-- Events and deliveries are the writer's: what is signed with a subscriber's secret, the api cannot write. Its two functions insert
-- tests with their own text, and deliveries of events that a subscription covers. A retry schedule it may start again.
GRANT SELECT ON service.event TO cover_api;
GRANT SELECT, UPDATE (state, failures, next_attempt_at) ON service.delivery TO cover_api;
GRANT SELECT ON service.outbox TO cover_api;
GRANT EXECUTE ON FUNCTION service.may_know, service.is_for, service.add_test, service.add_deliveries TO cover_api;

-- Requests for signed prices: the asset, and nothing that the writer would sign. The answers are the writer's.
GRANT SELECT, INSERT (chain_id, asset) ON service.price_proof TO cover_api;
GRANT SELECT ON service.oracle_signer TO cover_api;

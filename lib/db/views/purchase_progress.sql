-- Purchases with their state and outcome, also archived ones. An open purchase shows the hash of its newest form, and never that
-- of a cancellation.
CREATE OR REPLACE VIEW service.purchase_progress AS
SELECT p.id, p.chain_id, p.wallet, p.key_id, p.idempotency_key, p.fingerprint, p.product_id, p.coverage_amount, p.asset,
  p.buyer, p.quoted_premium, p.delegation_id, p.created_at, p.answers_repeats,
  service.progress_of(p.refused_at, t, f.hash, f.untaken) AS state,
  coalesce(t.hash, f.hash) AS tx_hash, t.block_number, t.block_hash, t.policy_id, t.premium_paid,
  coalesce(p.failure_code, t.failure_code) AS failure_code, coalesce(p.failure_message, t.failure_message) AS failure_message,
  coalesce(p.refused_at, t.settled_at) AS settled_at, coalesce(p.refused_at, t.final_at) AS final_at
FROM service.purchase p
LEFT JOIN service.transaction t ON t.intent = p.id AND t.lost_to IS NULL
LEFT JOIN LATERAL (
  SELECT a.hash, a.untaken FROM service.attempt a
  WHERE t.block_number IS NULL AND a.transaction_id = t.id AND NOT a.cancels ORDER BY a.id DESC LIMIT 1) f ON true
UNION ALL
SELECT id, chain_id, wallet, key_id, idempotency_key, fingerprint, product_id, coverage_amount, asset, buyer, quoted_premium,
  delegation_id, created_at, answers_repeats, state, tx_hash, block_number, block_hash, policy_id, premium_paid, failure_code,
  failure_message, settled_at, final_at
FROM service.archived_purchase;

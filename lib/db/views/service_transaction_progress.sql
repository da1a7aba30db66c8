CREATE OR REPLACE VIEW service.service_transaction_progress AS
SELECT e.id, e.chain_id, e.sender, e.purpose, e.claim_id, e."to", e.data, e.value, e.created_at,
  service.progress_of(e.refused_at, t, f.hash, f.untaken) AS state,
  coalesce(t.hash, f.hash) AS tx_hash, t.block_number, t.block_hash,
  coalesce(e.failure_code, t.failure_code) AS failure_code, coalesce(e.failure_message, t.failure_message) AS failure_message,
  coalesce(e.refused_at, t.settled_at) AS settled_at, coalesce(e.refused_at, t.final_at) AS final_at
FROM service.service_transaction e
LEFT JOIN service.transaction t ON t.intent = e.id AND t.lost_to IS NULL
LEFT JOIN LATERAL (
  SELECT a.hash, a.untaken FROM service.attempt a
  WHERE t.block_number IS NULL AND a.transaction_id = t.id AND NOT a.cancels ORDER BY a.id DESC LIMIT 1) f ON true;

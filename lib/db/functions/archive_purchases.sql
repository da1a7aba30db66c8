-- Archives purchases of a chain that were final before this time, at most `batch` mined and as many refused ones, all in the
-- caller's transaction: each is either archived whole or not at all. It returns how many. It takes
--   - mined ones only below final_below, also their permits: no reorganisation that the service watches for reaches them;
--   - none while the chain has unknown transactions, because a nonce without a row shows an unknown one;
--   - none that another session has locked: it never waits, so that it is in nobody's deadlock.
-- A refused purchase without any transaction has cost nothing and holds no key, and anybody can make any number of them: it is
-- deleted instead of archived. What was counted from archived ones stays: the premiums of delegations, the gas of days, reverts of buyers.
CREATE OR REPLACE FUNCTION service.archive_purchases(of_chain integer, before timestamptz, batch integer) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
  mined uuid[];
  refused uuid[];
  unsigned uuid[];
  ids uuid[];
  sent bigint[];
BEGIN
  IF EXISTS (SELECT FROM service.relayer_wallet w WHERE w.chain_id = of_chain AND w.unknown_from IS NOT NULL) THEN
    RETURN 0;
  END IF;
  -- A wallet's nonces are final in their order: only the lowest are looked at.
  SELECT array_agg(locked.id) INTO mined FROM (
    SELECT p.id FROM service.relayer_wallet w CROSS JOIN LATERAL (
        SELECT x.id FROM service.transaction x
        WHERE x.chain_id = w.chain_id AND x.wallet = w.address AND x.nonce < w.final_below AND x.kind = 'purchase'
          AND x.lost_to IS NULL
        ORDER BY x.nonce LIMIT batch) lowest
      JOIN service.transaction t ON t.id = lowest.id JOIN service.purchase p ON p.id = t.intent
    WHERE w.chain_id = of_chain AND t.final_at < before AND NOT service.has_watched_permit(p.id)
    LIMIT batch FOR UPDATE OF t, p SKIP LOCKED) locked;
  SELECT array_agg(locked.id) INTO refused FROM (
    SELECT p.id FROM service.purchase p
    WHERE p.chain_id = of_chain AND p.refused_at < before AND NOT service.has_watched_permit(p.id)
    ORDER BY p.refused_at LIMIT batch FOR UPDATE SKIP LOCKED) locked;
  ids := mined || refused;
  IF ids IS NULL THEN
    RETURN 0;
  END IF;
  SELECT array_agg(u.id) INTO unsigned FROM unnest(refused) u (id)
  WHERE NOT EXISTS (SELECT FROM service.transactions_of(service.intents_of(u.id)));
  -- The view has the table's columns, in the same order.
  INSERT INTO service.archived_purchase
    SELECT p.*, service.transaction_history(p.id) FROM service.purchase_progress p
    WHERE p.id = ANY (ids) AND p.id <> ALL (coalesce(unsigned, '{}'));
  SELECT array_agg(t.id) INTO sent FROM service.transactions_of((
    SELECT array_agg(intent) FROM unnest(ids) purchase (id), unnest(service.intents_of(purchase.id)) intent)) t;
  DELETE FROM service.attempt a WHERE a.transaction_id = ANY (sent);
  DELETE FROM service.transaction t WHERE t.id = ANY (sent);
  DELETE FROM service.purchase p WHERE p.id = ANY (ids);
  RETURN cardinality(ids);
END $$;

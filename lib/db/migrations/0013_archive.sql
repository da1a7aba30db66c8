-- A purchase or service transaction, and the purchase's permit.
CREATE FUNCTION service.intents_of(of_intent uuid) RETURNS uuid[] LANGUAGE sql STABLE AS $$
  SELECT array_append(ARRAY(SELECT m.id FROM service.permit m WHERE m.purchase_id = of_intent), of_intent)
$$;
--> statement-breakpoint
-- The transactions of intents. Those that may still be mined or were, and lost ones, have an index each.
CREATE FUNCTION service.transactions_of(intents uuid[]) RETURNS SETOF service.transaction LANGUAGE sql STABLE AS $$
  SELECT * FROM service.transaction t WHERE t.intent = ANY (intents) AND t.lost_to IS NULL
  UNION ALL
  SELECT * FROM service.transaction t WHERE t.intent = ANY (intents) AND t.lost_to IS NOT NULL
$$;
--> statement-breakpoint
-- The transactions of a purchase, with those of its permit, or of a service transaction: oldest first with their attempts, as
-- `npm run ledger -- show` prints them.
CREATE FUNCTION service.transaction_history(of_intent uuid) RETURNS json LANGUAGE sql STABLE AS $$
  SELECT coalesce(json_agg(json_build_object('kind', t.kind, 'wallet', t.wallet, 'nonce', t.nonce::text, 'state', t.state,
    'createdAt', t.created_at, 'gasCost', t.gas_cost::text, 'attempts', (
      SELECT coalesce(json_agg(json_build_object('hash', a.hash, 'cancels', a.cancels, 'maxFee', a.max_fee::text,
        'priorityFee', a.priority_fee::text, 'fencingToken', a.fencing_token::text, 'createdAt', a.created_at,
        'lastBroadcastAt', a.last_broadcast_at) ORDER BY a.id), '[]')
      FROM service.attempt a WHERE a.transaction_id = t.id)) ORDER BY t.id), '[]')
  FROM service.transactions_of(service.intents_of(of_intent)) t
$$;
--> statement-breakpoint
-- Whether a reorganisation that the service watches for may reach the transaction of a purchase's permit.
CREATE FUNCTION service.has_watched_permit(of_purchase uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM service.permit m JOIN service.transaction t ON t.intent = m.id AND t.lost_to IS NULL
    JOIN service.relayer_wallet w ON w.chain_id = t.chain_id AND w.address = t.wallet
    WHERE m.purchase_id = of_purchase AND t.nonce >= w.final_below)
$$;
--> statement-breakpoint
-- Archives purchases of a chain that were final before this time, at most `batch` mined and as many refused ones, all in the
-- caller's transaction: each is either archived whole or not at all. It returns how many. It takes
--   - mined ones only below final_below, also their permits: no reorganisation that the service watches for reaches them;
--   - none while the chain has unknown transactions, because a nonce without a row shows an unknown one;
--   - none that another session has locked: it never waits, so that it is in nobody's deadlock.
-- What was counted from them stays: the premiums of delegations, the gas of days, strikes.
CREATE FUNCTION service.archive_purchases(of_chain integer, before timestamptz, batch integer) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
  mined uuid[];
  refused uuid[];
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
  -- The view has the table's columns, in the same order.
  INSERT INTO service.archived_purchase
    SELECT p.*, service.transaction_history(p.id) FROM service.purchase_progress p WHERE p.id = ANY (ids);
  SELECT array_agg(t.id) INTO sent FROM service.transactions_of((
    SELECT array_agg(intent) FROM unnest(ids) purchase (id), unnest(service.intents_of(purchase.id)) intent)) t;
  DELETE FROM service.attempt a WHERE a.transaction_id = ANY (sent);
  DELETE FROM service.transaction t WHERE t.id = ANY (sent);
  DELETE FROM service.purchase p WHERE p.id = ANY (ids);
  RETURN cardinality(ids);
END $$;

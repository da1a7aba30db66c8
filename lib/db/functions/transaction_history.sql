-- The transactions of a purchase, with those of its permit, or of a service transaction: oldest first with their attempts, as
-- `npm run ledger -- show` prints them.
CREATE OR REPLACE FUNCTION service.transaction_history(of_intent uuid) RETURNS json LANGUAGE sql STABLE AS $$
  SELECT coalesce(json_agg(json_build_object('kind', t.kind, 'wallet', t.wallet, 'nonce', t.nonce::text, 'state', t.state,
    'createdAt', t.created_at, 'gasCost', t.gas_cost::text, 'attempts', (
      SELECT coalesce(json_agg(json_build_object('hash', a.hash, 'cancels', a.cancels, 'maxFee', a.max_fee::text,
        'priorityFee', a.priority_fee::text, 'fencingToken', a.fencing_token::text, 'createdAt', a.created_at,
        'lastBroadcastAt', a.last_broadcast_at) ORDER BY a.id), '[]')
      FROM service.attempt a WHERE a.transaction_id = t.id)) ORDER BY t.id), '[]')
  FROM service.transactions_of(service.intents_of(of_intent)) t
$$;

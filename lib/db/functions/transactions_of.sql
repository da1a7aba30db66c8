-- The transactions of intents. Those that may still be mined or were, and lost ones, have an index each.
CREATE OR REPLACE FUNCTION service.transactions_of(intents uuid[]) RETURNS SETOF service.transaction LANGUAGE sql STABLE AS $$
  SELECT * FROM service.transaction t WHERE t.intent = ANY (intents) AND t.lost_to IS NULL
  UNION ALL
  SELECT * FROM service.transaction t WHERE t.intent = ANY (intents) AND t.lost_to IS NOT NULL
$$;

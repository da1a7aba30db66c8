-- Locks a buyer until the transaction ends. Every transaction that decides about the buyer's funds takes this lock first,
-- so that each sees the result of the one before it.
CREATE OR REPLACE FUNCTION service.lock_buyer(of_chain integer, of_buyer text) RETURNS void LANGUAGE sql AS $$
  SELECT pg_advisory_xact_lock(hashtextextended(format('service:buyer:%s:%s', of_chain, of_buyer), 0))
$$;

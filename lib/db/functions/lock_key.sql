-- Locks an API key until the transaction ends, so that its purchases are counted one after the other, whoever their buyers are.
-- Buyers are locked before keys, and several keys in the order of their ids.
CREATE OR REPLACE FUNCTION service.lock_key(of_key bigint) RETURNS void LANGUAGE sql AS $$
  SELECT pg_advisory_xact_lock(hashtextextended(format('service:key:%s', of_key), 0))
$$;

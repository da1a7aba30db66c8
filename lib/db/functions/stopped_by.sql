-- The scope of a stop that covers a wallet of the service, or the purchases of a key or of its wallet: 'global', 'keeper',
-- 'wallet', 'key', or null.
CREATE OR REPLACE FUNCTION service.stopped_by(of_wallet text, of_key bigint) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT s.scope FROM service.stop s
  WHERE s.scope = 'global' OR (s.scope = 'wallet' AND s.subject = of_wallet)
    OR (s.scope = 'key' AND s.subject = of_key::text)
    OR (s.scope = 'keeper' AND EXISTS (
      SELECT FROM service.relayer_wallet r WHERE r.address = of_wallet AND r.role = 'keeper'))
  ORDER BY s.scope LIMIT 1
$$;

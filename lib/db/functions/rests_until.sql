-- Until when a wallet may not buy, because three purchases of its keys reverted within an hour by their buyers' own making:
-- each of them cost the operator gas. Null when it may buy.
CREATE OR REPLACE FUNCTION service.rests_until(of_wallet text) RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT max(r.struck_at) + interval '1 hour' FROM (
    SELECT s.struck_at FROM service.strike s
    WHERE s.wallet = of_wallet AND s.struck_at > now() - interval '2 hours'
    ORDER BY s.struck_at DESC LIMIT 3) r
  HAVING count(*) = 3 AND max(r.struck_at) - min(r.struck_at) <= interval '1 hour'
    AND max(r.struck_at) > now() - interval '1 hour'
$$;

-- Until when nobody may buy for a buyer, because three of its purchases, or of its contract's permits, reverted within an hour by its
-- own making: each of them cost the operator gas. Null when it may buy.
CREATE OR REPLACE FUNCTION service.paused_until(of_buyer text) RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT max(r.reverted_at) + interval '1 hour' FROM (
    SELECT b.reverted_at FROM service.buyer_revert b
    WHERE b.wallet = of_buyer AND b.reverted_at > now() - interval '2 hours'
    ORDER BY b.reverted_at DESC LIMIT 3) r
  HAVING count(*) = 3 AND max(r.reverted_at) - min(r.reverted_at) <= interval '1 hour'
    AND max(r.reverted_at) > now() - interval '1 hour'
$$;

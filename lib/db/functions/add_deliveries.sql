-- Gives a subscription deliveries of those events that it covers and has none of yet; returns how many. With the owner's rights:
-- the api inserts no deliveries, so that none of its own making is signed with a subscriber's secret.
CREATE OR REPLACE FUNCTION service.add_deliveries(of_webhook bigint, seqs bigint[]) RETURNS integer LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
  WITH added AS (
    INSERT INTO service.delivery (webhook_id, event_seq)
    SELECT w.id, e.seq FROM service.webhook w JOIN service.event e ON e.seq = ANY (seqs)
    WHERE w.id = of_webhook AND service.is_for(e, w) ORDER BY e.seq
    ON CONFLICT DO NOTHING RETURNING 1)
  SELECT count(*)::int FROM added
$$;

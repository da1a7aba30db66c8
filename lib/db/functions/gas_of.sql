-- The gas that counts for a transaction: its cost, its reservation while it has none, 0 when it is lost.
CREATE OR REPLACE FUNCTION service.gas_of(t service.transaction) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN t.lost_to IS NOT NULL THEN 0 ELSE coalesce(t.gas_cost, t.gas_reserved) END
$$;

-- The gas that counts for a transaction, by the day that it counts for.
CREATE OR REPLACE FUNCTION service.gas_by_day(t service.transaction) RETURNS TABLE (day date, wei numeric) LANGUAGE sql STABLE AS $$
  SELECT (t.created_at AT TIME ZONE 'utc')::date,
    service.gas_of(t) - coalesce((SELECT sum(value::numeric) FROM jsonb_each_text(t.gas_later)), 0)
  UNION ALL SELECT key::date, value::numeric FROM jsonb_each_text(t.gas_later)
$$;

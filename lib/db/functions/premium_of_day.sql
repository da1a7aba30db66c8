-- The premiums that count against a key's limit of this UTC day.
CREATE OR REPLACE FUNCTION service.premium_of_day(of_key bigint) RETURNS numeric LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(k.premium), 0) FROM service.key_premium k
  WHERE k.key_id = of_key AND k.day = (now() AT TIME ZONE 'utc')::date AND NOT k.failed
$$;

-- What a purchase counts against its delegation: the premium paid, 0 after a final failure, the quoted premium until then.
CREATE OR REPLACE FUNCTION service.premium_of(t service.transaction) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN t.premium_paid IS NOT NULL THEN t.premium_paid
    WHEN t.outcome <> 'done' AND t.final_at IS NOT NULL THEN 0 ELSE t.quoted_premium END
$$;

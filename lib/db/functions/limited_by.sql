-- The limit of an API key that forbids a purchase: 'scope', 'product', 'purchase' (amount: the most premium of one purchase), 'day'
-- (amount: what is left of the day's premium), or null. Of a key with a daily limit, lock the key first.
CREATE OR REPLACE FUNCTION service.limited_by(
  of_key bigint, of_product text, of_premium numeric, OUT reached text, OUT amount numeric
) LANGUAGE sql STABLE AS $$
  SELECT CASE
      WHEN NOT 'buy' = ANY (k.scopes) THEN 'scope'
      WHEN NOT of_product = ANY (k.products) THEN 'product'
      WHEN of_premium > k.max_premium_per_purchase THEN 'purchase'
      WHEN of_premium > d.premium_left THEN 'day' END,
    CASE WHEN of_premium > k.max_premium_per_purchase THEN k.max_premium_per_purchase ELSE d.premium_left END
  FROM service.api_key k, LATERAL (
    SELECT CASE WHEN k.max_premium_per_day IS NOT NULL
      THEN k.max_premium_per_day - service.premium_of_day(k.id) END AS premium_left) d
  WHERE k.id = of_key AND k.limited
$$;

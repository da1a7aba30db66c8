-- The purchases that the api sends.
CREATE OR REPLACE FUNCTION service.wanted_purchases(purchases json) RETURNS TABLE (
  n integer, chain_id integer, router text, wallet text, key_id bigint, idempotency_key text, fingerprint text,
  product_id text, coverage numeric, asset text, buyer text, premium numeric, permit_value numeric, permit_deadline numeric,
  permit_signature text, funds_block bigint, funds numeric
) LANGUAGE sql IMMUTABLE ROWS 50 AS $$
  SELECT * FROM json_to_recordset(purchases) AS x (
    n integer, chain_id integer, router text, wallet text, key_id bigint, idempotency_key text, fingerprint text,
    product_id text, coverage numeric, asset text, buyer text, premium numeric, permit_value numeric, permit_deadline numeric,
    permit_signature text, funds_block bigint, funds numeric)
$$;

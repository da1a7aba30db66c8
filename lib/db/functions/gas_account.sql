-- The budget that the gas of a wallet of the service counts for.
CREATE OR REPLACE FUNCTION service.gas_account(of_chain integer, of_wallet text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE r.role WHEN 'keeper' THEN 'keeper' ELSE '' END FROM service.relayer_wallet r
  WHERE r.chain_id = of_chain AND r.address = of_wallet
$$;

-- The wallets of a chain that are to be compared. A wallet is left out if the operator has stopped it and no writer has held it for
-- an hour: it got no nonces, and its ether may have been taken back.
CREATE OR REPLACE FUNCTION service.uncompared_wallets(of_chain integer) RETURNS SETOF service.relayer_wallet LANGUAGE sql STABLE AS $$
  SELECT * FROM service.relayer_wallet w
  WHERE w.chain_id = of_chain AND w.next_nonce IS NOT NULL AND w.compared_with IS DISTINCT FROM pg_postmaster_start_time()
    AND NOT (EXISTS (SELECT FROM service.stop s WHERE s.scope = 'wallet' AND s.subject = w.address)
      AND coalesce(w.heartbeat_at < now() - interval '1 hour', true))
$$;

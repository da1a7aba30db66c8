-- Each wallet's highest nonce in a block up to `block`; without a block, the nonce below its lowest open one; else -1. Nonces of
-- a wallet are mined in their order: those above are open, or in a later block. In plpgsql, so that Postgres runs it once and
-- not inside the caller's plan.
CREATE OR REPLACE FUNCTION service.mined_up_to(of_chain integer, block bigint) RETURNS TABLE (wallet text, nonce bigint)
LANGUAGE plpgsql STABLE ROWS 4 AS $$
BEGIN
  RETURN QUERY SELECT r.address, CASE WHEN block IS NULL THEN r.open_from - 1 ELSE coalesce((
      SELECT x.nonce FROM service.transaction x
      WHERE x.chain_id = r.chain_id AND x.wallet = r.address AND x.nonce < r.open_from AND x.block_number <= block
      ORDER BY x.nonce DESC LIMIT 1), -1) END
    FROM service.relayer_wallet r WHERE r.chain_id = of_chain;
END $$;

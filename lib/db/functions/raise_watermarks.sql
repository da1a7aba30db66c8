-- Raises open_from and final_below of a chain's wallets; blocks from watched_from on are watched. The wallets are locked
-- first: whoever opens a transaction again locks its wallet too, and lowers what this has raised. A wallet that is locked
-- is left for the next block, so that no wallet's signing rounds wait for another wallet's.
CREATE OR REPLACE FUNCTION service.raise_watermarks(of_chain integer, watched_from bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  w service.relayer_wallet;
  lowest_open bigint;
  lowest_watched bigint;
BEGIN
  FOR w IN SELECT * FROM service.relayer_wallet r WHERE r.chain_id = of_chain FOR UPDATE SKIP LOCKED LOOP
    lowest_open := coalesce((SELECT t.nonce FROM service.transaction t
      WHERE t.chain_id = w.chain_id AND t.wallet = w.address AND t.nonce >= w.open_from AND t.state = 'open'
      ORDER BY t.nonce LIMIT 1), w.next_nonce, 0);
    lowest_watched := coalesce((SELECT t.nonce FROM service.transaction t
      WHERE t.chain_id = w.chain_id AND t.wallet = w.address AND t.nonce >= w.final_below AND t.lost_to IS NULL
        AND (t.final_at IS NULL OR t.block_number >= watched_from)
      ORDER BY t.nonce LIMIT 1), w.next_nonce, 0);
    UPDATE service.relayer_wallet r SET open_from = lowest_open, final_below = lowest_watched
    WHERE r.chain_id = w.chain_id AND r.address = w.address
      AND (lowest_open > r.open_from OR lowest_watched > r.final_below);
  END LOOP;
END $$;

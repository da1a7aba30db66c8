-- A payer's transactions that are open, or in a block above `block`.
CREATE OR REPLACE FUNCTION service.in_flight(of_chain integer, of_payer text, block bigint) RETURNS SETOF service.transaction
LANGUAGE sql STABLE AS $$
  SELECT t.* FROM service.mined_up_to(of_chain, block) seen
  JOIN service.transaction t ON t.chain_id = of_chain AND t.wallet = seen.wallet AND t.nonce > seen.nonce
  WHERE t.payer = of_payer AND (t.state = 'open' OR t.block_number > block)
$$;

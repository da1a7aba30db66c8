-- Adds gas to the days and wallets that it counts for. It locks the rows of gas_day in one order, after all other rows of
-- the statement, so that no two statements wait for each other.
CREATE OR REPLACE FUNCTION service.add_gas(chains integer[], days date[], senders text[], clients text[], weis numeric[]) RETURNS void
LANGUAGE sql AS $$
  INSERT INTO service.gas_day AS g (chain_id, day, wallet, sender, wei)
  SELECT c.chain, c.day, w.wallet, c.sender, sum(c.wei)
  FROM (SELECT chain, day, sender, client, sum(wei) AS wei
      FROM unnest(chains, days, senders, clients, weis) AS u (chain, day, sender, client, wei) GROUP BY 1, 2, 3, 4) c,
    LATERAL (VALUES (service.gas_account(c.chain, c.sender)), (c.client)) w (wallet)
  WHERE w.wallet IS NOT NULL GROUP BY 1, 2, 3, 4 HAVING sum(c.wei) <> 0 ORDER BY 1, 2, 3, 4
  ON CONFLICT (chain_id, day, wallet, sender) DO UPDATE SET wei = g.wei + excluded.wei
$$;

-- Adds gas to the days and wallets that it counts for; that of calls which run somebody's code also to the account's share for these,
-- '<account>:code'. It locks the rows of gas_day in one order, after all other rows of the statement, so that no two statements wait for
-- each other.
CREATE OR REPLACE FUNCTION service.add_gas(
  chains integer[], days date[], senders text[], clients text[], codes text[], weis numeric[]
) RETURNS void LANGUAGE sql AS $$
  INSERT INTO service.gas_day AS g (chain_id, day, wallet, sender, wei)
  SELECT c.chain, c.day, w.wallet, c.sender, sum(c.wei)
  FROM (SELECT chain, day, sender, client, code IS NOT NULL AS runs_code, sum(wei) AS wei
      FROM unnest(chains, days, senders, clients, codes, weis) AS u (chain, day, sender, client, code, wei) GROUP BY 1, 2, 3, 4, 5) c,
    LATERAL (SELECT service.gas_account(c.chain, c.sender) AS name) account,
    LATERAL (VALUES (account.name), (CASE WHEN c.runs_code THEN account.name || ':code' END), (c.client)) w (wallet)
  WHERE w.wallet IS NOT NULL GROUP BY 1, 2, 3, 4 HAVING sum(c.wei) <> 0 ORDER BY 1, 2, 3, 4
  ON CONFLICT (chain_id, day, wallet, sender) DO UPDATE SET wei = g.wei + excluded.wei
$$;

-- A wallet's transactions from this nonce on. It is planned by itself, with the nonce's value: joined to the wallet's row,
-- Postgres expects a third of all transactions above a watermark, and scans the table.
CREATE OR REPLACE FUNCTION service.transactions_from(of_chain integer, of_wallet text, first bigint) RETURNS SETOF service.transaction
LANGUAGE plpgsql STABLE ROWS 200 AS $$
BEGIN
  RETURN QUERY SELECT t.* FROM service.transaction t
    WHERE t.chain_id = of_chain AND t.wallet = of_wallet AND t.nonce >= first;
END $$;

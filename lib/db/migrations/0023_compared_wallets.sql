-- What the ledger knows of a wallet's nonces without the node: which are archived, and whether commits may have been lost.

-- Archived nonces of the wallets, the highest of each batch. They were final, and so were all below them: none of these is a
-- gap, whatever a node says. A row per batch, so that no two batches wait for each other.
CREATE TABLE service.archived_nonce (
  chain_id integer NOT NULL,
  wallet text NOT NULL,
  nonce bigint NOT NULL,
  PRIMARY KEY (chain_id, wallet, nonce)
);
--> statement-breakpoint
-- A lost nonce was another program's: a deep reorganisation may free it.
CREATE FUNCTION service.note_archived_nonces() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO service.archived_nonce (chain_id, wallet, nonce)
  SELECT a.chain_id, t.wallet, max(t.nonce)
  FROM added a, json_to_recordset(a.transactions) AS t (wallet text, nonce bigint, state text)
  WHERE t.state = 'final' GROUP BY 1, 2
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER purchase_archived AFTER INSERT ON service.archived_purchase
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION service.note_archived_nonces();
--> statement-breakpoint
-- After the trigger: its lock keeps batches from being archived until the end.
INSERT INTO service.archived_nonce (chain_id, wallet, nonce)
SELECT a.chain_id, t.wallet, max(t.nonce)
FROM service.archived_purchase a, json_to_recordset(a.transactions) AS t (wallet text, nonce bigint, state text)
WHERE t.state = 'final' GROUP BY 1, 2;
--> statement-breakpoint
-- A row for each wallet that a writer has compared with the chain. A promoted standby, a restored backup and a crashed server may
-- have lost commits: the table is unlogged, so they have no rows, and no wallet gets a nonce before all are compared again.
CREATE UNLOGGED TABLE service.compared_wallet (
  chain_id integer NOT NULL,
  address text NOT NULL,
  PRIMARY KEY (chain_id, address)
);
--> statement-breakpoint
-- A wallet's first nonce is the chain's own count.
CREATE FUNCTION service.note_first_nonce() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO service.compared_wallet (chain_id, address) VALUES (NEW.chain_id, NEW.address) ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER wallet_first_nonce AFTER UPDATE OF next_nonce ON service.relayer_wallet
  FOR EACH ROW WHEN (OLD.next_nonce IS NULL AND NEW.next_nonce IS NOT NULL) EXECUTE FUNCTION service.note_first_nonce();
--> statement-breakpoint
-- The wallets of a chain that are to be compared. A wallet is left out if the operator has stopped it and no writer has held it for
-- an hour: it got no nonces, and its ether may have been taken back.
CREATE FUNCTION service.uncompared_wallets(of_chain integer) RETURNS SETOF service.relayer_wallet LANGUAGE sql STABLE AS $$
  SELECT * FROM service.relayer_wallet w
  WHERE w.chain_id = of_chain AND w.next_nonce IS NOT NULL
    AND NOT EXISTS (SELECT FROM service.compared_wallet c WHERE c.chain_id = w.chain_id AND c.address = w.address)
    AND NOT (EXISTS (SELECT FROM service.stop s WHERE s.scope = 'wallet' AND s.subject = w.address)
      AND coalesce(w.heartbeat_at < now() - interval '1 hour', true))
$$;
--> statement-breakpoint
-- An upgrade loses no commits.
INSERT INTO service.compared_wallet (chain_id, address)
SELECT chain_id, address FROM service.relayer_wallet WHERE next_nonce IS NOT NULL;
--> statement-breakpoint
-- A claim's transfers leave the faucet's own wallet, and its tokens go to the claim's wallet: with the api's login nobody can have the
-- writer send ether or tokens from another wallet. Last, because it locks the table until the migrations end.
ALTER POLICY api_claims ON service.service_transaction WITH CHECK (EXISTS (
  SELECT FROM service.faucet_claim c JOIN service.relayer_wallet r ON r.chain_id = c.chain_id AND r.address = c.faucet
  WHERE c.id = claim_id AND c.chain_id = service_transaction.chain_id AND c.faucet = sender AND r.role = 'faucet' AND CASE purpose
    WHEN 'faucet_ether' THEN "to" = c.wallet AND data = '0x' AND value <= 50000000000000000
    -- mint(wallet, amount)
    WHEN 'faucet_usdc' THEN value = 0 AND data = '0x40c10f19' || lpad(substr(c.wallet, 3), 64, '0') || right(data, 64)
    ELSE false
  END));

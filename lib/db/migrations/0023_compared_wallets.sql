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
-- After the trigger, whose lock keeps other batches from being archived in between.
INSERT INTO service.archived_nonce (chain_id, wallet, nonce)
SELECT a.chain_id, t.wallet, max(t.nonce)
FROM service.archived_purchase a, json_to_recordset(a.transactions) AS t (wallet text, nonce bigint, state text)
WHERE t.state = 'final' GROUP BY 1, 2;
--> statement-breakpoint
-- The wallets whose nonces were compared with the chain since commits may have been lost. Unlogged: a promoted standby, a restored
-- backup and a server after a crash have no rows, and give no nonces out before each wallet was compared.
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
-- Wallets of a chain whose lost commits, if there are any, nobody has looked for. A wallet that the operator has stopped got no
-- nonces since, so that none of them was lost.
CREATE FUNCTION service.uncompared_wallets(of_chain integer) RETURNS SETOF service.relayer_wallet LANGUAGE sql STABLE AS $$
  SELECT * FROM service.relayer_wallet w
  WHERE w.chain_id = of_chain AND w.next_nonce IS NOT NULL
    AND NOT EXISTS (SELECT FROM service.compared_wallet c WHERE c.chain_id = w.chain_id AND c.address = w.address)
    AND NOT EXISTS (SELECT FROM service.stop s WHERE s.scope = 'wallet' AND s.subject = w.address)
$$;

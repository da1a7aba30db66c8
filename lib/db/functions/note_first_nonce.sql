-- A wallet's first nonce is the chain's own count.
CREATE OR REPLACE FUNCTION service.note_first_nonce() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO service.compared_wallet (chain_id, address) VALUES (NEW.chain_id, NEW.address)
  ON CONFLICT (chain_id, address) DO UPDATE SET server = excluded.server;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER wallet_first_nonce AFTER UPDATE OF next_nonce ON service.relayer_wallet
  FOR EACH ROW WHEN (OLD.next_nonce IS NULL AND NEW.next_nonce IS NOT NULL) EXECUTE FUNCTION service.note_first_nonce();

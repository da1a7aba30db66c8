-- A lost nonce was another program's: a deep reorganisation may free it.
CREATE OR REPLACE FUNCTION service.note_archived_nonces() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO service.archived_nonce (chain_id, wallet, nonce)
  SELECT a.chain_id, t.wallet, max(t.nonce)
  FROM added a, json_to_recordset(a.transactions) AS t (wallet text, nonce bigint, state text)
  WHERE t.state = 'final' GROUP BY 1, 2
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER purchase_archived AFTER INSERT ON service.archived_purchase
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION service.note_archived_nonces();

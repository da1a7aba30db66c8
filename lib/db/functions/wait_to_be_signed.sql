-- With the owner's rights: the api inserts purchases and claims, and nothing here.
CREATE OR REPLACE FUNCTION service.wait_to_be_signed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF TG_TABLE_NAME = 'purchase' THEN
    -- The api wakes a writer for it; after this time it was forgotten.
    INSERT INTO service.waiting (intent, kind, chain_id, payer, premium, group_id, created_at, wake_at)
    SELECT p.id, 'purchase', p.chain_id, p.buyer, p.quoted_premium, p.id, p.created_at, now() + interval '5 seconds' FROM added p;
  ELSE
    INSERT INTO service.waiting (intent, kind, chain_id, payer, group_id, created_at, wake_at)
    SELECT e.id, 'service_transaction', e.chain_id, e.sender, coalesce(e.claim_id, e.id), e.created_at, now() FROM added e;
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER purchase_waits AFTER INSERT ON service.purchase
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION service.wait_to_be_signed();

CREATE OR REPLACE TRIGGER service_transaction_waits AFTER INSERT ON service.service_transaction
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION service.wait_to_be_signed();

-- After an outcome has changed: tells its waiters, counts reverts of the buyer, frees or takes back the idempotency key, charges the
-- delegation and the daily limit of the API key.
CREATE OR REPLACE FUNCTION service.note_outcome() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  bought service.purchase;
BEGIN
  IF NEW.outcome IS NOT NULL AND NOT (NEW.final_at IS NOT NULL AND NEW.outcome = 'done') THEN
    PERFORM service.announce(NEW.kind, NEW.intent);
  END IF;
  IF NEW.kind = 'permit' AND NEW.failed_by IS DISTINCT FROM OLD.failed_by THEN
    DELETE FROM service.buyer_revert b WHERE b.transaction_id = NEW.id;
    INSERT INTO service.buyer_revert (transaction_id, wallet) SELECT NEW.id, NEW.payer WHERE NEW.failed_by = 'buyer';
  END IF;
  IF NEW.kind <> 'purchase' OR NEW.delegation_id IS NULL AND NEW.outcome IS NOT DISTINCT FROM 'done'
    AND OLD.failed_by IS NULL AND OLD.outcome IS DISTINCT FROM 'replaced' THEN
    RETURN NULL;
  END IF;
  SELECT * INTO bought FROM service.purchase p WHERE p.id = NEW.intent;
  IF NEW.failed_by IS DISTINCT FROM OLD.failed_by THEN
    DELETE FROM service.buyer_revert b WHERE b.transaction_id = NEW.id;
    -- The sandbox's purchases do not count, because its wallet buys for everybody.
    IF NEW.failed_by = 'buyer' AND bought.key_id IS NOT NULL THEN
      INSERT INTO service.buyer_revert (transaction_id, wallet) VALUES (NEW.id, bought.buyer);
    END IF;
  END IF;
  IF NEW.final_at IS NOT NULL AND OLD.final_at IS NULL
    AND (NEW.outcome = 'replaced' OR NEW.failed_by = 'protocol' AND bought.idempotency_key IS NOT NULL) THEN
    UPDATE service.purchase p SET answers_repeats = false WHERE p.id = NEW.intent AND p.answers_repeats;
  ELSIF OLD.final_at IS NOT NULL AND NEW.final_at IS NULL AND bought.idempotency_key IS NOT NULL THEN
    -- A deep reorganisation: it may be mined again, so that its key is not free, unless the key was used again.
    UPDATE service.purchase p SET answers_repeats = true WHERE p.id = NEW.intent AND NOT p.answers_repeats AND NOT EXISTS (
      SELECT FROM service.existing_purchase(p.chain_id, p.wallet, p.idempotency_key, p.fingerprint));
  END IF;
  UPDATE service.key_premium k SET failed = NOT k.failed
  WHERE k.purchase_id = NEW.intent AND k.failed <> (NEW.final_at IS NOT NULL AND NEW.outcome <> 'done');
  IF NEW.delegation_id IS NOT NULL THEN
    UPDATE service.delegation d
    SET premium_spent = d.premium_spent + service.premium_of(NEW) - service.premium_of(OLD)
    WHERE d.id = NEW.delegation_id AND service.premium_of(NEW) <> service.premium_of(OLD);
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER transaction_outcome AFTER UPDATE ON service.transaction FOR EACH ROW
  WHEN (NEW.intent IS NOT NULL AND (NEW.outcome IS DISTINCT FROM OLD.outcome OR NEW.hash IS DISTINCT FROM OLD.hash
    OR NEW.block_hash IS DISTINCT FROM OLD.block_hash OR NEW.final_at IS DISTINCT FROM OLD.final_at))
  EXECUTE FUNCTION service.note_outcome();

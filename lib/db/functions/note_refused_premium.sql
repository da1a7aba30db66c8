-- A refused purchase no longer counts against the daily limit of its API key.
CREATE OR REPLACE FUNCTION service.note_refused_premium() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE service.key_premium k SET failed = true WHERE k.purchase_id = NEW.id;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER purchase_refused_premium AFTER UPDATE OF refused_at ON service.purchase
  FOR EACH ROW WHEN (NEW.key_id IS NOT NULL AND OLD.refused_at IS NULL AND NEW.refused_at IS NOT NULL)
  EXECUTE FUNCTION service.note_refused_premium();

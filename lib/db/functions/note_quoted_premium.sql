-- A new purchase counts against its delegation with its quoted premium; a refused one no longer.
CREATE OR REPLACE FUNCTION service.note_quoted_premium() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE service.delegation d
  SET premium_spent = d.premium_spent + CASE WHEN NEW.refused_at IS NULL THEN NEW.quoted_premium ELSE -NEW.quoted_premium END
  WHERE d.id = NEW.delegation_id;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER purchase_quoted AFTER INSERT ON service.purchase
  FOR EACH ROW WHEN (NEW.delegation_id IS NOT NULL) EXECUTE FUNCTION service.note_quoted_premium();

CREATE OR REPLACE TRIGGER purchase_refused AFTER UPDATE OF refused_at ON service.purchase
  FOR EACH ROW WHEN (NEW.delegation_id IS NOT NULL AND OLD.refused_at IS NULL AND NEW.refused_at IS NOT NULL)
  EXECUTE FUNCTION service.note_quoted_premium();

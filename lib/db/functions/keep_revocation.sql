-- A revocation is for good: nobody takes it back, or changes its time.
CREATE OR REPLACE FUNCTION service.keep_revocation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE insufficient_privilege USING MESSAGE = format('the revocation of %s %s is for good', TG_TABLE_NAME, OLD.id);
END $$;

CREATE OR REPLACE TRIGGER api_key_revocation BEFORE UPDATE OF revoked_at ON service.api_key
  FOR EACH ROW WHEN (OLD.revoked_at IS NOT NULL AND NEW.revoked_at IS DISTINCT FROM OLD.revoked_at)
  EXECUTE FUNCTION service.keep_revocation();

CREATE OR REPLACE TRIGGER delegation_revocation BEFORE UPDATE OF revoked_at ON service.delegation
  FOR EACH ROW WHEN (OLD.revoked_at IS NOT NULL AND NEW.revoked_at IS DISTINCT FROM OLD.revoked_at)
  EXECUTE FUNCTION service.keep_revocation();

-- The api inserts no purchase that a writer would not sign. Stable: it reads what the inserting statement has read.
CREATE OR REPLACE FUNCTION service.refuse_unfounded() RETURNS trigger LANGUAGE plpgsql STABLE AS $$
DECLARE
  lacked text := service.lacked_by(NEW);
BEGIN
  IF lacked IS NOT NULL THEN
    RAISE insufficient_privilege USING MESSAGE = format('the purchase lacks a %s that is in force', lacked);
  END IF;
  RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER purchase_founded BEFORE INSERT ON service.purchase
  FOR EACH ROW WHEN (current_user = 'cover_api') EXECUTE FUNCTION service.refuse_unfounded();

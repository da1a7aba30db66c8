-- The api inserts purchases, and may not write what was spent under a delegation: the trigger does so with its owner's rights.
ALTER FUNCTION service.note_premium() SECURITY DEFINER SET search_path = pg_catalog, pg_temp;

-- Wakes the writers for a request, and the api's waiting callers for an answer.
CREATE OR REPLACE FUNCTION service.announce_price_proof() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify(CASE NEW.state WHEN 'pending' THEN 'service_price_request' ELSE 'service_price_proof' END, NEW.id::text);
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER price_proof_announced AFTER INSERT OR UPDATE OF state ON service.price_proof
FOR EACH ROW EXECUTE FUNCTION service.announce_price_proof();

-- Tells those who wait for a purchase or a claim.
CREATE OR REPLACE FUNCTION service.announce(kind text, intent uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF kind = 'purchase' THEN
    PERFORM pg_notify('service_purchase', intent::text);
  ELSE
    PERFORM pg_notify('service_claim', e.claim_id::text) FROM service.service_transaction e
    WHERE e.id = intent AND e.claim_id IS NOT NULL;
  END IF;
END $$;

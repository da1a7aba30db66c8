-- The existing purchase that a new call would repeat: the one with the same idempotency key or, without a key, the one with
-- the same content whose outcome is open, or which no caller has received yet. Without a key, an outcome that is older than 10
-- minutes no longer counts. Current and archived purchases are read in one snapshot: one that is being archived is found in
-- exactly one of them.
CREATE OR REPLACE FUNCTION service.existing_purchase(of_chain integer, of_wallet text, of_key text, of_fingerprint text)
RETURNS TABLE (id uuid, fingerprint text) LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF of_key IS NOT NULL THEN
    RETURN QUERY SELECT p.id, p.fingerprint FROM service.purchase p
      WHERE p.wallet = of_wallet AND p.idempotency_key = of_key AND p.answers_repeats;
    IF NOT FOUND THEN
      RETURN QUERY SELECT a.id, a.fingerprint FROM service.archived_purchase a
        WHERE a.wallet = of_wallet AND a.idempotency_key = of_key AND a.answers_repeats;
    END IF;
  ELSE
    RETURN QUERY SELECT p.id, p.fingerprint FROM service.purchase p
      WHERE p.wallet = of_wallet AND p.chain_id = of_chain AND p.fingerprint = of_fingerprint
        AND p.idempotency_key IS NULL AND p.answers_repeats AND NOT service.is_outcome_old(p.id);
  END IF;
END $$;

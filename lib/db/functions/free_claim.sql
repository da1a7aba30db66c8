-- Fails a claim for which nothing was ever signed, and gives back its slots and its place in the day, in one transaction. It
-- returns false and changes nothing when something was signed or the claim is freed already. It locks both service transactions while
-- it looks, so that a writer signs either before this call, which then sees the signature, or never. The slots and the day
-- follow in the order of claim_faucet, so that the two functions never wait for each other.
CREATE OR REPLACE FUNCTION service.free_claim(claim uuid, code text, message text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  freed service.faucet_claim;
BEGIN
  PERFORM 1 FROM service.waiting w WHERE w.group_id = claim ORDER BY w.intent FOR UPDATE;
  IF (SELECT count(*) FROM service.waiting w WHERE w.group_id = claim) < 2 OR service.is_partly_signed(claim) THEN
    RETURN false;
  END IF;
  UPDATE service.faucet_claim c SET freed_at = now() WHERE c.id = claim AND c.freed_at IS NULL
  RETURNING c.* INTO freed;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  DELETE FROM service.waiting w WHERE w.group_id = claim;
  UPDATE service.service_transaction e SET failure_code = code, failure_message = message, refused_at = now()
  WHERE e.claim_id = claim;
  PERFORM pg_notify('service_claim', claim::text);
  DELETE FROM service.faucet_slot s WHERE s.claim_id = claim AND s.kind = 'wallet';
  DELETE FROM service.faucet_slot s WHERE s.claim_id = claim AND s.kind = 'client';
  UPDATE service.faucet_day d SET claims = d.claims - 1
  WHERE d.chain_id = freed.chain_id AND d.day = (freed.claimed_at AT TIME ZONE 'utc')::date;
  RETURN true;
END $$;

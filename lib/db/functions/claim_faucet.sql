-- Records a claim with its slots, its place in the UTC day and both of its transfers, or records nothing.
-- `funds` is the faucet's balance as of `funds_block`, in wei; a new claim requires it, so it is null only when unknown.
-- `gas` is the highest gas cost of one transfer. The caller waits for `patience` for the outcome; until then nobody else may
-- join the claim. Afterwards a call for the same wallet by the same client may, until a caller receives the outcome.
-- The outcomes: claimed, joined (with the claim), stopped (by the operator), wallet_limited, client_limited, day_full,
-- client_paused (until when), funds_unknown, out_of_eth.
-- The rows of the wallet's slot, the client's slot and the day serialise claims that share a limit; every claim locks them in
-- this order, so no two wait for each other. The advisory lock on the faucet serialises promises, so that together they stay
-- within its balance.
CREATE OR REPLACE FUNCTION service.claim_faucet(
  of_chain integer, of_faucet text, of_wallet text, of_client text, token text, mint text, wei numeric, gas numeric,
  cooldown interval, day_cap integer, patience interval, funds_block bigint, funds numeric,
  OUT outcome text, OUT claim_id uuid, OUT until timestamptz
) LANGUAGE plpgsql AS $$
DECLARE
  promised numeric;
BEGIN
  -- A limit can appear and end between two statements; then the loop starts again.
  FOR round IN 1..10 LOOP
    UPDATE service.faucet_claim c SET awaited_until = now() + patience
    WHERE c.id = (SELECT s.claim_id FROM service.faucet_slot s
        WHERE s.chain_id = of_chain AND s.kind = 'wallet' AND s.subject = of_wallet AND s.until > now())
      AND c.client = of_client AND c.told_at IS NULL AND c.freed_at IS NULL AND c.awaited_until <= now()
    RETURNING c.id INTO claim_id;
    IF FOUND THEN
      outcome := 'joined';
      RETURN;
    END IF;
    IF service.stopped_by(of_faucet, NULL) IS NOT NULL THEN
      outcome := 'stopped';
      RETURN;
    END IF;
    -- Read first, so that refused calls write nothing, however many there are.
    SELECT x.outcome, x.until INTO outcome, until
    FROM service.faucet_limit(of_chain, of_wallet, of_client, day_cap) x;
    IF outcome IS NOT NULL THEN
      RETURN;
    END IF;
    IF funds IS NULL THEN
      outcome := 'funds_unknown';
      RETURN;
    END IF;

    -- A refusal from here on rolls this block back.
    BEGIN
      INSERT INTO service.faucet_claim AS c (chain_id, faucet, wallet, client, awaited_until)
      VALUES (of_chain, of_faucet, of_wallet, of_client, now() + patience)
      RETURNING c.id, c.claimed_at + cooldown INTO claim_id, until;
      INSERT INTO service.faucet_slot AS s (chain_id, kind, subject, claim_id, until)
      VALUES (of_chain, 'wallet', of_wallet, claim_id, until)
      ON CONFLICT (chain_id, kind, subject) DO UPDATE SET claim_id = excluded.claim_id, until = excluded.until
      WHERE s.until <= now();
      IF NOT FOUND THEN
        RAISE SQLSTATE 'SF001';
      END IF;
      INSERT INTO service.faucet_slot AS s (chain_id, kind, subject, claim_id, until)
      VALUES (of_chain, 'client', of_client, claim_id, until)
      ON CONFLICT (chain_id, kind, subject) DO UPDATE SET claim_id = excluded.claim_id, until = excluded.until
      WHERE s.until <= now();
      IF NOT FOUND THEN
        RAISE SQLSTATE 'SF001';
      END IF;
      INSERT INTO service.faucet_day AS d (chain_id, day, claims)
      VALUES (of_chain, (now() AT TIME ZONE 'utc')::date, 1)
      ON CONFLICT (chain_id, day) DO UPDATE SET claims = d.claims + 1 WHERE d.claims < day_cap;
      IF NOT FOUND THEN
        RAISE SQLSTATE 'SF001';
      END IF;

      PERFORM pg_advisory_xact_lock(hashtextextended(format('service:faucet:%s:%s', of_chain, of_faucet), 0));
      SELECT coalesce(sum(x.value + gas), 0) INTO promised FROM (
        SELECT e.value FROM service.waiting w JOIN service.service_transaction e ON e.id = w.intent
        WHERE w.payer = of_faucet AND w.chain_id = of_chain
        UNION ALL
        SELECT t.value FROM service.in_flight(of_chain, of_faucet, funds_block) t) x;
      IF promised + wei + 2 * gas > funds THEN
        outcome := 'out_of_eth';
        RAISE SQLSTATE 'SF001';
      END IF;
      INSERT INTO service.service_transaction (chain_id, sender, purpose, claim_id, "to", data, value)
      VALUES (of_chain, of_faucet, 'faucet_ether', claim_id, of_wallet, '0x', wei),
        (of_chain, of_faucet, 'faucet_usdc', claim_id, token, mint, 0);
      outcome := 'claimed';
      RETURN;
    EXCEPTION WHEN SQLSTATE 'SF001' THEN
      claim_id := NULL;
      until := NULL;
      IF outcome IS NOT NULL THEN
        RETURN;
      END IF;
    END;
  END LOOP;
  RAISE EXCEPTION 'the limits of a claim appeared and ended ten times in a row';
END $$;

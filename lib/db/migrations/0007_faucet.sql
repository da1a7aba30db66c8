-- The faucet's limits, and the functions that apply them.

-- The slots of a claim: its wallet and its client, each until the cooldown is over. The row is the slot.
CREATE TABLE service.faucet_slot (
  chain_id integer NOT NULL,
  kind text NOT NULL CHECK (kind IN ('wallet', 'client')),
  subject text NOT NULL,
  claim_id uuid NOT NULL REFERENCES service.faucet_claim (id),
  until timestamptz NOT NULL,
  PRIMARY KEY (chain_id, kind, subject)
);
--> statement-breakpoint
CREATE INDEX faucet_slot_claim ON service.faucet_slot (claim_id);
--> statement-breakpoint
-- The number of claims in a UTC day.
CREATE TABLE service.faucet_day (
  chain_id integer NOT NULL,
  day date NOT NULL,
  claims integer NOT NULL CHECK (claims >= 0),
  PRIMARY KEY (chain_id, day)
);
--> statement-breakpoint
-- The first limit that refuses a claim now, and when all of its limits have ended: wallet_limited, client_limited, day_full,
-- client_rests; null when none does. client_rests: within 10 minutes the client made five claims for wallets that cannot be
-- paid. Such claims cost the client nothing, but each costs the service a simulation.
CREATE FUNCTION service.faucet_limit(of_chain integer, of_wallet text, of_client text, day_cap integer,
  OUT outcome text, OUT until timestamptz) LANGUAGE sql STABLE AS $$
  SELECT x.outcome, max(x.until) OVER () FROM (
    SELECT s.kind || '_limited' AS outcome, s.until, CASE s.kind WHEN 'wallet' THEN 1 ELSE 2 END AS rank
    FROM service.faucet_slot s
    WHERE s.chain_id = of_chain AND (s.kind, s.subject) IN (('wallet', of_wallet), ('client', of_client))
      AND s.until > now()
    UNION ALL
    SELECT 'day_full', (d.day + 1)::timestamp AT TIME ZONE 'utc', 3 FROM service.faucet_day d
    WHERE d.chain_id = of_chain AND d.day = (now() AT TIME ZONE 'utc')::date AND d.claims >= day_cap
    UNION ALL
    SELECT 'client_rests', min(r.freed_at) + interval '10 minutes', 4 FROM (
      SELECT c.freed_at FROM service.faucet_claim c
      WHERE c.chain_id = of_chain AND c.client = of_client AND c.freed_at > now() - interval '10 minutes'
        AND EXISTS (
          SELECT 1 FROM service.service_transaction e WHERE e.claim_id = c.id AND e.failure_code = 'onchain_revert')
      ORDER BY c.freed_at DESC LIMIT 5) r
    HAVING count(*) = 5) x
  ORDER BY x.rank LIMIT 1
$$;
--> statement-breakpoint
-- Records a claim with its slots, its place in the UTC day and both of its transfers, or records nothing.
-- `funds` is the faucet's balance as of `funds_block`, in wei; a new claim requires it, so it is null only when unknown.
-- `gas` is the highest gas cost of one transfer. The caller waits for `patience` for the outcome; until then nobody else may
-- join the claim. Afterwards a call for the same wallet by the same client may, until a caller receives the outcome.
-- The outcomes: claimed, joined (with the claim), stopped (by the operator), wallet_limited, client_limited, day_full,
-- client_rests (until when), funds_unknown, out_of_eth.
-- The rows of the wallet's slot, the client's slot and the day serialise claims that share a limit; every claim locks them in
-- this order, so no two wait for each other. The advisory lock on the faucet serialises promises, so that together they stay
-- within its balance.
CREATE FUNCTION service.claim_faucet(
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
--> statement-breakpoint
-- Whether a transaction was ever made for a service transaction of a group, lost ones included: the group is owed then. The
-- keeper's never are, because it asks anew what is due.
CREATE FUNCTION service.is_partly_signed(of_group uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT 1 FROM service.service_transaction e
    WHERE (e.id = of_group OR e.claim_id = of_group) AND e.purpose NOT LIKE 'keeper%'
      AND (EXISTS (SELECT 1 FROM service.transaction t WHERE t.intent = e.id AND t.lost_to IS NULL)
        OR EXISTS (SELECT 1 FROM service.transaction t WHERE t.intent = e.id AND t.lost_to IS NOT NULL)))
$$;
--> statement-breakpoint
-- Fails a claim for which nothing was ever signed, and gives back its slots and its place in the day, in one transaction. It
-- returns false and changes nothing when something was signed or the claim is freed already. It locks both service transactions while
-- it looks, so that a writer signs either before this call, which then sees the signature, or never. The slots and the day
-- follow in the order of claim_faucet, so that the two functions never wait for each other.
CREATE FUNCTION service.free_claim(claim uuid, code text, message text) RETURNS boolean LANGUAGE plpgsql AS $$
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

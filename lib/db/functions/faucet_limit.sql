-- The first limit that refuses a claim now, and when all of its limits have ended: wallet_limited, client_limited, day_full,
-- client_paused; null when none does. client_paused: within 10 minutes the client made five claims for wallets that cannot be
-- paid. Such claims cost the client nothing, but each costs the service a simulation.
CREATE OR REPLACE FUNCTION service.faucet_limit(of_chain integer, of_wallet text, of_client text, day_cap integer,
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
    SELECT 'client_paused', min(r.freed_at) + interval '10 minutes', 4 FROM (
      SELECT c.freed_at FROM service.faucet_claim c
      WHERE c.chain_id = of_chain AND c.client = of_client AND c.freed_at > now() - interval '10 minutes'
        AND EXISTS (
          SELECT 1 FROM service.service_transaction e WHERE e.claim_id = c.id AND e.failure_code = 'onchain_revert')
      ORDER BY c.freed_at DESC LIMIT 5) r
    HAVING count(*) = 5) x
  ORDER BY x.rank LIMIT 1
$$;

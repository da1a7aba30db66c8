-- Whether a purchase's outcome is certain, and older than 10 minutes.
CREATE OR REPLACE FUNCTION service.is_outcome_old(of_purchase uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT 1 FROM service.transaction t WHERE t.intent = of_purchase AND t.lost_to IS NULL
    AND (t.outcome = 'done' OR t.final_at IS NOT NULL) AND t.settled_at < now() - interval '10 minutes')
$$;

-- What became of an intent: accepted, signed (no node has taken it yet), broadcast, mined, confirmed, failed, replaced.
CREATE OR REPLACE FUNCTION service.progress_of(refused_at timestamptz, t service.transaction, form text, form_untaken boolean)
RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE
    WHEN refused_at IS NOT NULL THEN 'failed'
    WHEN t.outcome = 'done' THEN CASE WHEN t.final_at IS NULL THEN 'mined' ELSE 'confirmed' END
    WHEN t.outcome = 'reverted' THEN 'failed'
    WHEN t.outcome = 'replaced' THEN 'replaced'
    WHEN form IS NULL THEN 'accepted'
    WHEN form_untaken THEN 'signed'
    ELSE 'broadcast'
  END
$$;

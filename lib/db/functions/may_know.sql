-- Whether a subscription may have received an event: an attempt was made, or may have been.
CREATE OR REPLACE FUNCTION service.may_know(w bigint, e bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (
    SELECT 1 FROM service.delivery d
    WHERE d.webhook_id = w AND d.event_seq = e AND (d.attempts <> '[]' OR d.taken_at IS NOT NULL))
$$;

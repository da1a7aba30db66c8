-- Whether a subscription covers an event, whatever happened to its delivery. The outbox, retries and replays all use this
-- rule. A burn goes to the subscriptions that name it and not to '*', which means all events of the own wallet. It is a single
-- expression without a query, so that Postgres inlines it.
CREATE OR REPLACE FUNCTION service.is_for(e service.event, w service.webhook) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT CASE
    WHEN e.chain_id <> w.chain_id OR e.block_number IS NULL THEN false
    -- A reversal goes to those that may have received the event.
    WHEN e.reverts IS NOT NULL THEN service.may_know(w.id, e.reverts)
    ELSE e.reverted_at IS NULL
      AND CASE e.type WHEN 'token_burned' THEN 'token_burned' = ANY (w.events)
        ELSE w.wallet = ANY (e.parties) AND w.events && ARRAY['*', e.type] END
      AND (e.block_number > w.from_block OR (e.block_number <= w.processed_block AND e.seq > w.processed_event))
  END
$$;

-- Events that any wallet's subscription may receive, burns and their reversals, while their deliveries are created: in batches,
-- by the subscription's id. An event's row moves in the transaction of its batch and goes with the last one.
CREATE TABLE service.fan_out (
  event_seq bigint PRIMARY KEY REFERENCES service.event (seq) ON DELETE CASCADE,
  chain_id integer NOT NULL,
  -- Subscriptions up to this one have their deliveries.
  reached bigint NOT NULL DEFAULT 0
);
--> statement-breakpoint
-- Subscriptions that name burns, in the order in which they receive them.
DROP INDEX service.webhook_burns;
--> statement-breakpoint
CREATE INDEX webhook_burns ON service.webhook (chain_id, id) WHERE 'token_burned' = ANY (events) AND state <> 'deleted';
--> statement-breakpoint
-- As before, but a burn goes to the subscriptions that name it and not to '*', which means all events of the own wallet.
CREATE OR REPLACE FUNCTION service.is_for(e service.event, w service.webhook) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT CASE
    WHEN e.chain_id <> w.chain_id OR e.block_number IS NULL THEN false
    -- A reversal goes to those that may have received the event.
    WHEN e.reverts IS NOT NULL THEN service.may_know(w.id, e.reverts)
    ELSE e.reverted_at IS NULL
      AND CASE e.type WHEN 'token_burned' THEN 'token_burned' = ANY (w.events)
        ELSE w.wallet = ANY (e.parties) AND w.events && ARRAY['*', e.type] END
      AND (e.block_number > w.from_block OR (e.block_number <= w.passed_block AND e.seq > w.passed_event))
  END
$$;
--> statement-breakpoint
-- The newest block up to which every event is recorded, and none that is off its chain: while the index's head descends from
-- it, and the index is the same build, only later blocks are read. All null where that is unknown.
ALTER TABLE service.outbox
  ADD COLUMN taken_block bigint,
  ADD COLUMN taken_hash text,
  -- The block's time, Unix seconds.
  ADD COLUMN taken_time bigint,
  ADD COLUMN taken_build text,
  ADD CONSTRAINT outbox_taken CHECK (num_nonnulls(taken_block, taken_hash, taken_time, taken_build) IN (0, 4));

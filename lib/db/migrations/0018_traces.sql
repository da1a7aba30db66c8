-- The trace (W3C `traceparent`) of the request that made a purchase, if it named one. A table of its own, so that purchases without
-- a trace cost nothing. It stays when its purchase is archived.
CREATE TABLE service.purchase_trace (
  purchase_id uuid PRIMARY KEY,
  traceparent text NOT NULL CHECK (traceparent ~ '^00-[0-9a-f]{32}-[0-9a-f]{16}-0[0-3]$')
);
--> statement-breakpoint
-- The trace of the purchase that caused the event: each attempt at one of its deliveries carries it.
ALTER TABLE service.event ADD COLUMN traceparent text;

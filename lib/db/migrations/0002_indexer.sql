-- The indexer deployments that were started. A first backfill has no views yet: its row shows that an indexer is at work.
CREATE TABLE service.indexer_deployment (
  -- The Postgres schema that the deployment writes to; it follows from the build.
  schema_name text PRIMARY KEY,
  views_schema text NOT NULL,
  chain_id integer NOT NULL,
  started_at timestamptz NOT NULL DEFAULT now(),
  -- The launcher's latest heartbeat, by the database's clock. Without it, a dead indexer on a quiet chain looks caught up.
  heartbeat_at timestamptz
);

-- The indexer's sign of life, by the database's clock: a dead indexer on a quiet chain looks like one that is caught up.
ALTER TABLE "service"."indexer_deployment" ADD COLUMN "heartbeat_at" timestamptz;

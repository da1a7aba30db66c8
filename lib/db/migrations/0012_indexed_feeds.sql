-- The aggregators of the deployment's feeds and the blocks from which their phases count, as the first start found them. A later
-- start may reach a node that can tell less, or more, of the past; the schema's rows go on as they began.
ALTER TABLE service.indexer_deployment ADD COLUMN feeds jsonb;

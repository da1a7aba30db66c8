-- No gap while an indexer starts. Between its start and the moment when its rows are those of one block again, readers do not see
-- them: the view of the head is empty, and the launcher publishes a snapshot of the rows before the start.
ALTER TABLE service.indexer_deployment
  -- The first start of this build: of two builds the one with the later first start is the newer one.
  ADD COLUMN first_started_at timestamptz NOT NULL DEFAULT now(),
  -- True from a start until the build's rows are those of one block, not below the last that readers saw.
  ADD COLUMN catching_up boolean NOT NULL DEFAULT true,
  -- While it catches up: the newest block that readers may have seen of this build.
  ADD COLUMN last_block numeric,
  -- The snapshot of that block (pg_export_snapshot), while the launcher holds it.
  ADD COLUMN snapshot text;

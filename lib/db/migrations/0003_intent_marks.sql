-- What the writer marks its calls with: see workers/ledger/intent-marks.ts. It is made with the table, so that each backup of the ledger
-- has it.
CREATE TABLE service.secret (
  name text PRIMARY KEY CHECK (name = 'intent_marks'),
  value bytea NOT NULL CHECK (length(value) = 32),
  created_at timestamptz NOT NULL DEFAULT now()
);
-- 244 random bits.
INSERT INTO service.secret (name, value)
VALUES ('intent_marks', decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'));

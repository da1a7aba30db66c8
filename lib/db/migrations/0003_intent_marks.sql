-- What the writer marks its calls with: see workers/ledger/intent-marks.ts. One row; a backup has it too.
CREATE TABLE service.secret (
  name text PRIMARY KEY CHECK (name = 'intent_marks'),
  value bytea NOT NULL CHECK (length(value) = 32),
  created_at timestamptz NOT NULL DEFAULT now()
);
-- How often a key was signed for and has bought nothing: the number of its attempt is part of the mark.
CREATE INDEX purchase_ended_key ON service.purchase (wallet, idempotency_key)
  WHERE idempotency_key IS NOT NULL AND NOT answers_repeats AND refused_at IS NULL;
CREATE INDEX archived_purchase_ended_key ON service.archived_purchase (wallet, idempotency_key)
  WHERE idempotency_key IS NOT NULL AND NOT answers_repeats;

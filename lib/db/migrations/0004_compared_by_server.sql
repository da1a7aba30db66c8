-- With which start of the server a wallet was compared: a stopped copy of the data that was put back has the rows, and another start.
TRUNCATE service.compared_wallet;
ALTER TABLE service.compared_wallet ADD COLUMN server timestamptz NOT NULL DEFAULT pg_postmaster_start_time();

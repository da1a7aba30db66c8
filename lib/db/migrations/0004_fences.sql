ALTER TABLE service.relayer_wallet
  -- With which start of the server it was compared with the chain, so that others may sign: a restored backup, a copy of the files that
  -- was put back and a promoted standby have another start. compared_wallet is of the version before.
  ADD COLUMN compared_with timestamptz,
  -- The nonces that empty transfers got after that start, so that bytes which the server has lost cannot be mined.
  ADD COLUMN fence_with timestamptz,
  ADD COLUMN fence_from bigint,
  ADD COLUMN fence_below bigint,
  -- With which start its own fence was mined: it gets other nonces only then.
  ADD COLUMN fenced_with timestamptz,
  ADD CHECK (num_nonnulls(fence_with, fence_from, fence_below) IN (0, 3));

ALTER TABLE service.relayer_wallet
  -- With which start of the server it was compared with the chain: a restored backup, a copy of the files that was put back and a
  -- promoted standby have another start.
  ADD COLUMN compared_with timestamptz,
  -- The nonces that empty transfers got after that start, so that bytes which the server has lost cannot be mined.
  ADD COLUMN fence_with timestamptz,
  ADD COLUMN fence_from bigint,
  ADD COLUMN fence_below bigint,
  ADD CHECK (num_nonnulls(fence_with, fence_from, fence_below) IN (0, 3));
-- compared_wallet stays for writers of the version before, which still run during an update.
UPDATE service.relayer_wallet w SET compared_with = pg_postmaster_start_time()
FROM service.compared_wallet c WHERE c.chain_id = w.chain_id AND c.address = w.address;

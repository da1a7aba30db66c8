-- When a subscription's receiver has echoed a challenge. Until then only few calls are made to its host.
ALTER TABLE service.webhook ADD COLUMN verified_at timestamptz;

-- When a subscription's receiver has echoed a challenge. Until then only few calls are made to its host.
ALTER TABLE service.webhook ADD COLUMN verified_at timestamptz;
-- A receiver that takes events already has shown that it wants them.
UPDATE service.webhook w SET verified_at = now() WHERE EXISTS (
  SELECT FROM service.delivery d WHERE d.webhook_id = w.id AND d.state = 'delivered' AND NOT d.test);

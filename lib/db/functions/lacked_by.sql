-- Names what keeps a purchase from being signed: 'key' without an active one of its wallet, 'delegation' without one in force of its
-- buyer to its wallet; or null. Without a key only the sandbox's wallet buys, for itself.
CREATE OR REPLACE FUNCTION service.lacked_by(p service.purchase) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE
    WHEN p.key_id IS NULL AND NOT EXISTS (
      SELECT FROM service.sandbox_wallet s WHERE s.chain_id = p.chain_id AND s.wallet = p.wallet) THEN 'key'
    WHEN p.key_id IS NOT NULL AND NOT EXISTS (
      SELECT FROM service.api_key k WHERE k.id = p.key_id AND k.wallet = p.wallet AND k.revoked_at IS NULL) THEN 'key'
    WHEN (p.buyer <> p.wallet OR p.delegation_id IS NOT NULL) AND NOT EXISTS (
      SELECT FROM service.delegation d
      WHERE d.id = p.delegation_id AND d.chain_id = p.chain_id AND d.buyer = p.buyer AND d.agent = p.wallet
        AND d.revoked_at IS NULL AND d.expires_at > now()) THEN 'delegation'
  END
$$;

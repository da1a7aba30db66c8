-- An active delegation of the buyer to the agent, with the premium left under it. Of those with room for the premium it is
-- the one that expires first; when none has room, the one with most room.
CREATE OR REPLACE FUNCTION service.delegation_in_force(of_chain integer, of_router text, of_buyer text, of_agent text, of_premium numeric)
RETURNS TABLE (id bigint, premium_left numeric) LANGUAGE sql STABLE AS $$
  SELECT d.id, d.premium_left FROM (
    SELECT x.id, x.expires_at, x.total_premium_cap - x.premium_spent AS premium_left
    FROM service.delegation x
    WHERE x.chain_id = of_chain AND x.router = of_router AND x.buyer = of_buyer AND x.agent = of_agent
      AND x.revoked_at IS NULL AND x.expires_at > now()) d
  ORDER BY d.premium_left >= of_premium DESC, CASE WHEN d.premium_left >= of_premium THEN d.expires_at END,
    d.premium_left DESC LIMIT 1
$$;

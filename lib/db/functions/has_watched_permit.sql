-- Whether a reorganisation that the service watches for may reach the transaction of a purchase's permit.
CREATE OR REPLACE FUNCTION service.has_watched_permit(of_purchase uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM service.permit m JOIN service.transaction t ON t.intent = m.id AND t.lost_to IS NULL
    JOIN service.relayer_wallet w ON w.chain_id = t.chain_id AND w.address = t.wallet
    WHERE m.purchase_id = of_purchase AND t.nonce >= w.final_below)
$$;

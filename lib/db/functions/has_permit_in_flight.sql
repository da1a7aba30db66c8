-- Whether a permit of the buyer waits to be sent or to be mined. Another one would set the allowance anew.
CREATE OR REPLACE FUNCTION service.has_permit_in_flight(of_chain integer, of_buyer text) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM service.waiting w JOIN service.permit m ON m.purchase_id = w.intent
      WHERE w.payer = of_buyer AND w.chain_id = of_chain)
    OR EXISTS (SELECT FROM service.in_flight(of_chain, of_buyer, NULL) t WHERE t.kind = 'permit' AND t.state = 'open')
$$;

-- The premiums and the number of a buyer's purchases in flight. The state of the chain up to `funds_block` includes those up to
-- that block; those after it, and those still open, are added here.
CREATE OR REPLACE FUNCTION service.bought_by(of_chain integer, of_buyer text, funds_block bigint, OUT held numeric, OUT in_flight integer)
LANGUAGE plpgsql STABLE AS $$
BEGIN
  SELECT coalesce(sum(x.premium), 0), count(*) INTO held, in_flight FROM (
    SELECT w.premium FROM service.waiting w
    WHERE w.payer = of_buyer AND w.chain_id = of_chain AND w.kind = 'purchase'
    UNION ALL
    SELECT coalesce(t.premium_paid, t.quoted_premium) FROM service.in_flight(of_chain, of_buyer, funds_block) t
    WHERE t.kind = 'purchase' AND (t.state = 'open' OR t.premium_paid IS NOT NULL)) x;
END $$;

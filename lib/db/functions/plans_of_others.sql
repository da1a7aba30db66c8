-- The plans of other wallets. No round takes five minutes: an older plan is of a wallet that no writer has any more.
CREATE OR REPLACE FUNCTION service.plans_of_others(of_chain integer, of_wallet text) RETURNS SETOF service.round_plan LANGUAGE sql STABLE AS $$
  SELECT * FROM service.round_plan r
  WHERE r.chain_id = of_chain AND r.wallet <> of_wallet AND r.planned_at > now() - interval '5 minutes'
$$;

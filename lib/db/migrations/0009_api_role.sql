-- Of service transactions the api may insert those of a claim, and not more ether than a grant has: 0.05. Whatever else it inserted, the
-- writer would sign. The owner is not bound by this.
ALTER TABLE service.service_transaction ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY api_reads ON service.service_transaction FOR SELECT TO cover_api USING (true);
--> statement-breakpoint
CREATE POLICY api_deletes ON service.service_transaction FOR DELETE TO cover_api
  USING (claim_id IS NOT NULL AND refused_at IS NOT NULL);
--> statement-breakpoint
CREATE POLICY api_claims ON service.service_transaction FOR INSERT TO cover_api WITH CHECK (EXISTS (
  SELECT FROM service.faucet_claim c
  WHERE c.id = claim_id AND c.chain_id = service_transaction.chain_id AND c.faucet = sender AND CASE purpose
    WHEN 'faucet_ether' THEN "to" = c.wallet AND data = '0x' AND value <= 50000000000000000
    WHEN 'faucet_usdc' THEN value = 0
    ELSE false
  END));

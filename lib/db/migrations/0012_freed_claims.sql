-- Claims that were given back are forgotten after a time, and errands that failed are looked at by when they did.
CREATE INDEX "faucet_claim_freed" ON "service"."faucet_claim" ("freed_at") WHERE "freed_at" IS NOT NULL;
--> statement-breakpoint
CREATE INDEX "errand_failed" ON "service"."errand" ("updated_at") WHERE "state" = 'failed';
--> statement-breakpoint
-- Nothing is looked up by these.
DROP INDEX "service"."faucet_claim_wallet";
--> statement-breakpoint
DROP INDEX "service"."errand_sender";
--> statement-breakpoint
-- As before, without an entry for each purchase.
DROP INDEX "service"."transaction_errand";
--> statement-breakpoint
CREATE UNIQUE INDEX "transaction_errand" ON "service"."transaction" ("errand_id")
  WHERE "errand_id" IS NOT NULL AND "state" <> 'lost';

-- Whether anything of an errand was ever signed, a lost transaction included, is asked in each round and for each claim that
-- is given up; without this every such question reads all that the ledger ever sent.
CREATE INDEX "transaction_of_errand" ON "service"."transaction" ("errand_id") WHERE "errand_id" IS NOT NULL;

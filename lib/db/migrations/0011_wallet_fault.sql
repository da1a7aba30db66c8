-- What keeps a wallet's owner from signing with it, in words; null when nothing does. The caps on gas are the writer's alone:
-- by this the API learns that there is nothing to promise.
ALTER TABLE "service"."relayer_wallet" ADD COLUMN "fault" text;

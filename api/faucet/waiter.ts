import type { Database } from "../../lib/db/connect.ts";
import { createWaiter, type Waiter } from "../../lib/ledger/wait.ts";
import { type Claim, isClaimSettled, readClaims } from "./claims.ts";

/** Postgres channel on which claims are announced whose transfers moved on; the payload is the claim's id. */
const CLAIM_CHANNEL = "service_claim";

export type ClaimWaiter = Waiter<Claim>;

/** Waits until both transfers of a claim came to something. */
export const createClaimWaiter = (databaseUrl: string, db: Database): ClaimWaiter =>
  createWaiter<Claim>(databaseUrl, {
    what: "claim",
    channel: CLAIM_CHANNEL,
    read: (ids) => readClaims(db, ids),
    isSettled: isClaimSettled,
  });

import type { Sql } from "postgres";
import { createWaiter, type Waiter } from "../../lib/ledger/waiter.ts";
import { type Claim, isClaimSettled, readClaims } from "./claims.ts";

/** Postgres channel for claims with news of their transfers; the payload is the claim's id. */
const CLAIM_CHANNEL = "service_claim";

export type ClaimWaiter = Waiter<Claim>;

/** Waits until both transfers of a claim are settled. */
export const createClaimWaiter = (databaseUrl: string, sql: Sql): ClaimWaiter =>
  createWaiter<Claim>(databaseUrl, {
    what: "claim",
    channel: CLAIM_CHANNEL,
    read: (ids) => readClaims(sql, ids),
    isSettled: isClaimSettled,
  });

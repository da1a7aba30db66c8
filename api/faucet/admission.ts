import type { ISql } from "postgres";
import type { Address } from "viem";
import { mintCalldata } from "../../lib/chain/mock-usdc.ts";
import { lower } from "../../lib/lower.ts";
import { faucetTerms } from "./terms.ts";

/** The faucet's balance as of a block up to which the ledger is settled, and the highest gas cost of a transfer; in wei. */
export type FaucetFunds = { block: bigint; balance: bigint; gas: bigint };

/** A request for a grant. `client` is the caller's address, or the /64 of an IPv6 one. */
export type ClaimRequest = {
  chainId: number;
  faucet: Address;
  /** The mock USDC. */
  token: Address;
  wallet: Address;
  client: string;
  /** How long this call waits for the outcome, in ms; until then no other call joins the claim. */
  waitMs: number;
  /** May be undefined first: the outcome `funds_unknown` asks for it when no limit refuses the claim. */
  funds: FaucetFunds | undefined;
};

type Limit = "wallet_limited" | "client_limited" | "day_full" | "client_paused";

export type Admission =
  /**
   * `joined`: an earlier claim of the wallet whose result no caller has received. Until `awaitedUntil` (the database's time,
   * as its text) no other call joins the claim.
   */
  | { outcome: "claimed" | "joined"; claimId: string; awaitedUntil: string }
  /** By the operator. */
  | { outcome: "stopped" }
  /**
   * `until` is when all limits of the claim have ended, in `secondsLeft` seconds. `client_paused`: within 10 minutes the
   * client made five claims for wallets that cannot be paid.
   */
  | { outcome: Limit; until: Date; secondsLeft: number }
  | { outcome: "funds_unknown" }
  /** The faucet's balance, less what it has promised, is too low for this grant. */
  | { outcome: "out_of_eth" };

/**
 * Records a claim with its slots and both transfers, or nothing, in one transaction: of concurrent calls, in any number of
 * processes, as many succeed as would one after the other. If the answer of a call is lost, the claim may exist; a repeated
 * call joins it. Throws when the database cannot be reached.
 */
export async function claimFaucet(sql: ISql, request: ClaimRequest): Promise<Admission> {
  const { wei, cooldownHours, dailyCap } = faucetTerms;
  const { funds } = request;
  const patience = sql`make_interval(secs => ${request.waitMs / 1000})`;
  const [row] = await sql<Admission[]>`
    select g.outcome, g.claim_id as "claimId", g.until,
      greatest(1, ceil(extract(epoch from g.until - clock_timestamp())))::int as "secondsLeft",
      (now() + ${patience})::text as "awaitedUntil"
    from service.claim_faucet(${request.chainId}, ${lower(request.faucet)}, ${lower(request.wallet)}, ${request.client},
      ${lower(request.token)}, ${mintCalldata(request.wallet, faucetTerms.usdc)}, ${String(wei)}, ${funds ? String(funds.gas) : null},
      make_interval(hours => ${cooldownHours}), ${dailyCap}, ${patience},
      ${funds ? String(funds.block) : null}, ${funds ? String(funds.balance) : null}) g`;
  if (!row) throw new Error("the database returned no row for a claim");
  switch (row.outcome) {
    case "claimed":
    case "joined":
      return { outcome: row.outcome, claimId: row.claimId, awaitedUntil: row.awaitedUntil };
    case "wallet_limited":
    case "client_limited":
    case "day_full":
    case "client_paused":
      return { outcome: row.outcome, until: row.until, secondsLeft: row.secondsLeft };
    default:
      return { outcome: row.outcome };
  }
}

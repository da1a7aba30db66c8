import type { ISql } from "postgres";
import type { Address } from "viem";
import { mintCalldata } from "../../lib/chain/mock-usdc.ts";
import { lower } from "../../lib/lower.ts";
import { faucetTerms } from "./terms.ts";

/** What the faucet has, in wei, as of a block up to which the ledger has settled, and what a transfer's gas may cost. */
export type FaucetFunds = { block: bigint; balance: bigint; gas: bigint };

/** Somebody asks for a grant. `client` is its address, or the /64 of an IPv6 one. */
export type ClaimWish = {
  chainId: number;
  faucet: Address;
  /** The mock USDC. */
  token: Address;
  wallet: Address;
  client: string;
  /** How long this call waits for the outcome, in ms: so long nobody else joins the claim. */
  waitMs: number;
  /** Only asked for, as the outcome `funds_unknown`, when nothing else stands in the way. */
  funds: FaucetFunds | undefined;
};

type Limit = "wallet_limited" | "client_limited" | "day_full" | "client_rests";

export type Gate =
  /**
   * `joined`: the wallet's claim of which nobody was told what became of it. Until `awaitedUntil`, a moment by the
   * database's clock in its own words, it is this call's alone.
   */
  | { outcome: "claimed" | "joined"; claimId: string; awaitedUntil: string }
  /** By the operator. */
  | { outcome: "stopped" }
  /**
   * `until` is when all limits of the claim have ended, in `secondsLeft` seconds. `client_rests`: five claims of the client
   * were, within ten minutes, for wallets that cannot be paid.
   */
  | { outcome: Limit; until: Date; secondsLeft: number }
  | { outcome: "funds_unknown" }
  /** What was promised already leaves too little for this grant. */
  | { outcome: "out_of_eth" };

type Row =
  | { outcome: "claimed" | "joined"; claim_id: string; awaited_until: string }
  | {
      outcome: Limit;
      until_ms: number;
      seconds_left: number;
    }
  | { outcome: "stopped" | "funds_unknown" | "out_of_eth" };

/**
 * Records a claim with everything that it takes up, or nothing, in one transaction: of any number of calls at the same
 * moment, in any number of processes, as many succeed as one after the other would. A call whose answer is lost may have
 * made the claim; its repetition finds it. Throws when the database cannot be reached.
 */
export async function claimFaucet(sql: ISql, wish: ClaimWish): Promise<Gate> {
  const { wei, cooldownHours, dailyCap } = faucetTerms;
  const { funds } = wish;
  const patience = sql`make_interval(secs => ${wish.waitMs / 1000})`;
  const [row] = await sql<Row[]>`
    select g.outcome, g.claim_id, extract(epoch from g.until)::float8 * 1000 as until_ms,
      greatest(1, ceil(extract(epoch from g.until - clock_timestamp())))::int as seconds_left,
      (now() + ${patience})::text as awaited_until
    from service.claim_faucet(${wish.chainId}, ${lower(wish.faucet)}, ${lower(wish.wallet)}, ${wish.client},
      ${lower(wish.token)}, ${mintCalldata(wish.wallet, faucetTerms.usdc)}, ${String(wei)}, ${funds ? String(funds.gas) : null},
      make_interval(hours => ${cooldownHours}), ${dailyCap}, ${patience},
      ${funds ? String(funds.block) : null}, ${funds ? String(funds.balance) : null}) g`;
  if (!row) throw new Error("the database did not answer to a claim");
  switch (row.outcome) {
    case "claimed":
    case "joined":
      return { outcome: row.outcome, claimId: row.claim_id, awaitedUntil: row.awaited_until };
    case "wallet_limited":
    case "client_limited":
    case "day_full":
    case "client_rests":
      return {
        outcome: row.outcome,
        until: new Date(row.until_ms),
        secondsLeft: row.seconds_left,
      };
    default:
      return { outcome: row.outcome };
  }
}

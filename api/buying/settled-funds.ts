/**
 * An account's funds as of a block that the ledger has settled: up to that block, every mined transaction is known to the
 * ledger, so that nothing is counted both as spent and as in flight.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import type { Address } from "viem";
import type { Connection } from "../../lib/db/connect.ts";
import { ApiError } from "../../lib/errors.ts";
import { shareRead, shareReadBy } from "../../lib/shared-read.ts";
import { fromDatabase } from "../http/dependency-timeout.ts";
import { readWatchedBlock } from "./refusal-reasons.ts";

/**
 * Maximum age of funds, in ms. The ledger adds transactions mined after their block, so old funds never allow overspending;
 * they only delay the effect of a new deposit or approval.
 */
const FUNDS_TTL_MS = 5000;
/** From this age on, in ms, funds that are asked for are read again, so that a busy account's never get too old. */
const FUNDS_RENEW_MS = 2500;
/** How long a read is shared, in ms: requests for one account come in bursts. */
const SHARED_MS = 250;
/** How long a refusal waits for the writer to settle the newest block, and how often it looks, in ms. */
const CATCH_UP_MS = 3000;
const POLL_MS = 50;
/** Accounts kept at once: clients choose them, so their number is limited. */
const MAX_ACCOUNTS = 1000;

/** Funds at the end of a block. */
export type FundsAt<Held> = Held & { block: bigint };

export type SettledFunds<Held> = {
  /** The funds read within the last five seconds. It never waits; those that get old are read again meanwhile. */
  known(account: Address): FundsAt<Held> | undefined;
  /** Reads the funds; concurrent calls share one read. @throws ApiError when node or database are down */
  recent(account: Address): Promise<FundsAt<Held>>;
  /**
   * Funds as of the newest block, if the writer settles it within three seconds. Otherwise `settled` is false, and a lack
   * of funds is not certain: a transaction that was just mined counts both as spent and as in flight.
   * @throws ApiError when node or database are down
   */
  newest(account: Address): Promise<{ funds: FundsAt<Held>; settled: boolean }>;
};

export type SettledFundsParts = {
  readonly connection: Pick<Connection, "sql">;
  readonly deployment: { readonly chainId: number };
};

/** Funds on one chain; `held` reads them at the end of a block. */
export function createSettledFunds<Held extends object>(
  { connection, deployment }: SettledFundsParts,
  chain: {
    head: () => Promise<{ number: bigint }>;
    held: (account: Address, block: bigint) => Promise<Held>;
  },
): SettledFunds<Held> {
  const read = new LRUCache<Address, FundsAt<Held>>({ max: MAX_ACCOUNTS, ttl: FUNDS_TTL_MS });

  /** The newest block that the writer has settled; one read for all callers. */
  const settledBlock = shareRead(POLL_MS, () =>
    fromDatabase(() => readWatchedBlock(connection.sql, deployment.chainId)),
  );

  async function readAt(account: Address, block: bigint | undefined): Promise<FundsAt<Held>> {
    if (block === undefined) throw new ApiError("relayer_unavailable", "No relayer has read the chain yet.");
    const funds = { block, ...(await chain.held(account, block)) };
    read.set(account, funds);
    return funds;
  }

  const recent = shareReadBy(SHARED_MS, async (account: Address) => readAt(account, await settledBlock()));

  return {
    known(account) {
      const funds = read.get(account);
      // Without it, the next call reads them, and waits.
      if (funds && read.getRemainingTTL(account) < FUNDS_TTL_MS - FUNDS_RENEW_MS)
        void recent(account).catch(() => {});
      return funds;
    },
    recent,
    async newest(account) {
      const head = await chain.head();
      const until = performance.now() + CATCH_UP_MS;
      let block = await settledBlock();
      while ((block ?? 0n) < head.number && performance.now() < until) {
        await sleep(POLL_MS);
        block = await settledBlock();
      }
      if (block === undefined || block >= head.number) {
        return { funds: await readAt(account, block), settled: true };
      }
      return { funds: await readAt(account, head.number), settled: false };
    },
  };
}

/** What an account has, as of blocks that the ledger has settled, so that what is on its way can be told from what is spent. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Address } from "viem";
import { ApiError } from "../../lib/errors.ts";
import { shareRead, shareReadBy } from "../../lib/shared-read.ts";
import { readWatchedBlock } from "../buying/guards.ts";
import type { Dependencies } from "../dependencies.ts";
import { fromDatabase } from "../http/dependency-timeout.ts";

/**
 * How old funds may be, in ms. The ledger counts what was mined after their block, so that age alone never lets anybody
 * spend too much; it only makes it see a new deposit or approval later.
 */
const FUNDS_TTL_MS = 5000;
/** How long a read is shared, in ms: calls of one account come in bursts. */
const SHARED_MS = 250;
/** So long a refusal waits for the writer to have settled the newest block, in ms, and looks how often. */
const CATCH_UP_MS = 3000;
const LOOK_MS = 50;
/** Accounts that are remembered at once: clients choose them, so their number must have a bound. */
const MAX_ACCOUNTS = 1000;

/** What was held at the end of a block. */
export type AsOf<Held> = Held & { block: bigint };

export type SettledFunds<Held> = {
  /** What was read of late, without asking anybody; undefined when nothing was. */
  known(account: Address): AsOf<Held> | undefined;
  /** Read now, or at the same moment for somebody else. @throws ApiError when node or database are away */
  recent(account: Address): Promise<AsOf<Held>>;
  /**
   * As of the newest block, if possible once the writer has settled it. Otherwise what was just mined counts twice, in
   * what was paid and in what is on its way: then `settled` is false, and a lack of funds is not certain.
   * @throws ApiError when node or database are away
   */
  newest(account: Address): Promise<{ funds: AsOf<Held>; settled: boolean }>;
};

/** The reads are those of one chain; `held` is asked for the end of a block. */
export function createSettledFunds<Held>(
  { connection, deployment }: { connection: Dependencies["connection"]; deployment: { chainId: number } },
  chain: {
    head: () => Promise<{ number: bigint }>;
    held: (account: Address, block: bigint) => Promise<Held>;
  },
): SettledFunds<Held> {
  const read = new Map<Address, { at: number; funds: AsOf<Held> }>();

  /**
   * Funds as of a block that the writer has settled show exactly the purchases that the ledger says are mined. Read once
   * for all who look: nobody takes an older one for the block that it waits for, only one look later.
   */
  const watchedBlock = shareRead(LOOK_MS, () =>
    fromDatabase(() => readWatchedBlock(connection.db, deployment.chainId)),
  );

  async function readAt(account: Address, block: bigint | undefined): Promise<AsOf<Held>> {
    if (block === undefined)
      throw new ApiError("relayer_unavailable", "No relayer has looked at the chain yet.");
    const funds = { block, ...(await chain.held(account, block)) };
    if (read.size >= MAX_ACCOUNTS) read.clear();
    read.set(account, { at: performance.now(), funds });
    return funds;
  }

  return {
    known(account) {
      const last = read.get(account);
      return last && performance.now() - last.at < FUNDS_TTL_MS ? last.funds : undefined;
    },
    recent: shareReadBy(SHARED_MS, async (account) => readAt(account, await watchedBlock())),
    async newest(account) {
      const head = await chain.head();
      const until = performance.now() + CATCH_UP_MS;
      let block = await watchedBlock();
      while ((block ?? 0n) < head.number && performance.now() < until) {
        await sleep(LOOK_MS);
        block = await watchedBlock();
      }
      if (block === undefined || block >= head.number) {
        return { funds: await readAt(account, block), settled: true };
      }
      return { funds: await readAt(account, head.number), settled: false };
    },
  };
}

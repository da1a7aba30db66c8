/** What a buyer can pay, read for those alone that have several purchases on their way. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Address } from "viem";
import { ApiError } from "../lib/errors.ts";
import { type Funds, readWatchedBlock } from "../lib/ledger/guards.ts";
import { shareRead, shareReadBy } from "../lib/shared-read.ts";
import { fromDatabase } from "./bounded.ts";
import type { Dependencies } from "./dependencies.ts";
import type { Readers } from "./readers.ts";

/**
 * How old funds may be, in ms. The ledger counts what was mined after their block, so that age alone never lets a buyer
 * spend too much; it only makes it see a new approval later.
 */
const FUNDS_TTL_MS = 5000;
/** How long a read is shared, in ms: purchases of one buyer come in bursts. */
const SHARED_MS = 250;
/** So long a refusal waits for the writer to have settled the newest block, in ms, and looks how often. */
const CATCH_UP_MS = 3000;
const LOOK_MS = 50;
/** Buyers that are remembered at once: clients choose them, so their number must have a bound. */
const MAX_BUYERS = 1000;

export type BuyerFunds = {
  /** What was read of late, without asking anybody; undefined when nothing was. */
  known(buyer: Address): Funds | undefined;
  /** Read now, or at the same moment for somebody else. @throws ApiError when node or database are away */
  recent(buyer: Address): Promise<Funds>;
  /**
   * As of the newest block, if possible once the writer has settled it. Otherwise purchases that were just mined count
   * twice, in what was paid and in what is on its way: then `settled` is false, and a lack of funds is not certain.
   * @throws ApiError when node or database are away
   */
  newest(buyer: Address): Promise<{ funds: Funds; settled: boolean }>;
};

export function createBuyerFunds(
  { connection, deployment }: Pick<Dependencies, "connection" | "deployment">,
  { chain }: { chain: Pick<Readers["chain"], "funds" | "head"> },
): BuyerFunds {
  const read = new Map<Address, { at: number; funds: Funds }>();

  /**
   * Funds as of a block that the writer has settled show exactly the purchases that the ledger says are mined. Read once
   * for all who look: nobody takes an older one for the block that it waits for, only one look later.
   */
  const watchedBlock = shareRead(LOOK_MS, () =>
    fromDatabase(() => readWatchedBlock(connection.db, deployment.chainId)),
  );

  async function readAt(buyer: Address, block: bigint | undefined): Promise<Funds> {
    if (block === undefined)
      throw new ApiError("relayer_unavailable", "No relayer has looked at the chain yet.");
    const funds = { block, ...(await chain.funds(buyer, block)) };
    if (read.size >= MAX_BUYERS) read.clear();
    read.set(buyer, { at: performance.now(), funds });
    return funds;
  }

  return {
    known(buyer) {
      const last = read.get(buyer);
      return last && performance.now() - last.at < FUNDS_TTL_MS ? last.funds : undefined;
    },
    recent: shareReadBy(SHARED_MS, async (buyer) => readAt(buyer, await watchedBlock())),
    async newest(buyer) {
      const head = await chain.head();
      const until = performance.now() + CATCH_UP_MS;
      let block = await watchedBlock();
      while ((block ?? 0n) < head.number && performance.now() < until) {
        await sleep(LOOK_MS);
        block = await watchedBlock();
      }
      if (block === undefined || block >= head.number) {
        return { funds: await readAt(buyer, block), settled: true };
      }
      return { funds: await readAt(buyer, head.number), settled: false };
    },
  };
}

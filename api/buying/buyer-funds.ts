import type { Address } from "viem";
import { valueWithin } from "../../lib/timeout.ts";
import type { ChainReads } from "../chain/chain-reads.ts";
import type { Funds } from "./refusal-reasons.ts";
import { createSettledFunds, type SettledFunds, type SettledFundsParts } from "./settled-funds.ts";

/** How long a purchase waits for funds that the ledger may not need, in ms. */
const FUNDS_WAIT_MS = 100;

type Payable = Omit<Funds, "block">;

/** Balances and allowances of buyers. Read only for buyers with other purchases in flight. */
export type BuyerFunds = SettledFunds<Payable> & {
  /**
   * Runs `record`, which records a purchase, with the buyer's funds as far as they are known. While another purchase of the
   * buyer is being recorded they are read first, because the ledger will ask for them.
   */
  whileRecording<T>(buyer: Address, record: (known: Funds | undefined) => Promise<T>): Promise<T>;
};

export function createBuyerFunds(
  parts: SettledFundsParts,
  chain: Pick<ChainReads, "head"> & { funds: (buyer: Address, block: bigint) => Promise<Payable> },
): BuyerFunds {
  const settled = createSettledFunds(parts, { head: chain.head, held: chain.funds });
  /** How many purchases of each buyer are being recorded. */
  const recording = new Map<Address, number>();

  async function whileRecording<T>(
    buyer: Address,
    record: (known: Funds | undefined) => Promise<T>,
  ): Promise<T> {
    const others = recording.get(buyer) ?? 0;
    recording.set(buyer, others + 1);
    try {
      const known = settled.known(buyer);
      const isNeeded = known === undefined && others > 0;
      return await record(isNeeded ? await valueWithin(FUNDS_WAIT_MS, settled.recent(buyer)) : known);
    } finally {
      const left = (recording.get(buyer) ?? 1) - 1;
      if (left > 0) recording.set(buyer, left);
      else recording.delete(buyer);
    }
  }

  return { ...settled, whileRecording };
}

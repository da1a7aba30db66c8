import type { Address } from "viem";
import type { ChainReads } from "../chain/chain-reads.ts";
import type { Funds } from "./refusal-reasons.ts";
import { createSettledFunds, type SettledFunds, type SettledFundsParts } from "./settled-funds.ts";

type Payable = Omit<Funds, "block">;

/** Balances and allowances of buyers. Read only for buyers with other purchases in flight. */
export type BuyerFunds = SettledFunds<Payable>;

export const createBuyerFunds = (
  parts: SettledFundsParts,
  chain: Pick<ChainReads, "head"> & { funds: (buyer: Address, block: bigint) => Promise<Payable> },
): BuyerFunds => createSettledFunds(parts, { head: chain.head, held: chain.funds });

/** What a buyer can pay, read for those alone that have several purchases on their way. */
import type { Address } from "viem";
import { createSettledFunds, type SettledFunds } from "../chain/settled-funds.ts";
import type { Dependencies } from "../dependencies.ts";
import type { Readers } from "../readers.ts";
import type { Funds } from "./guards.ts";

type Payable = Omit<Funds, "block">;

export type BuyerFunds = SettledFunds<Payable>;

export const createBuyerFunds = (
  deps: Pick<Dependencies, "connection" | "deployment">,
  {
    chain,
  }: {
    chain: Pick<Readers["chain"], "head"> & { funds: (buyer: Address, block: bigint) => Promise<Payable> };
  },
): BuyerFunds => createSettledFunds(deps, { head: chain.head, held: chain.funds });

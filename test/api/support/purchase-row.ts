/** A row of the table of what `POST /api/v1/policies` answers, and how it is brought about. */
import { randomUUID } from "node:crypto";
import { approveUsdc } from "../../../scripts/local/protocol/actions/index.ts";
import type { HttpAnswer } from "../../support/http.ts";
import type { Buyer } from "./buyer.ts";
import type { PurchaseWorld } from "./purchase-world.ts";

export const PATH = "/api/v1/policies";

export type Row = {
  readonly what: string;
  readonly status: number;
  /** Of the error; none where it was bought. */
  readonly code?: string;
  /** The policies that the buyer has afterwards; none when left out. */
  readonly policies?: number;
  /** Brings it about; `buyer` is new. */
  readonly reach: (world: PurchaseWorld, buyer: Buyer) => Promise<HttpAnswer>;
  /** Undoes what was brought about, but for the nodes, which are put right after every row. */
  readonly after?: (world: PurchaseWorld) => Promise<unknown>;
};

export const newKey = () => ({ "idempotency-key": randomUUID() });
export const bodyOf = ({ account }: Pick<Buyer, "account">) => ({
  productName: "FLASHBTC1H-001",
  coverageAmount: "100000000",
  buyer: account.address,
});

/** Changes the chain, and asks once the api can know. */
export const withChain =
  (change: (world: PurchaseWorld) => Promise<unknown>): Row["reach"] =>
  async (world, buyer) => {
    await change(world);
    await world.forgotten();
    return buyer.buy();
  };

/** Lets the router take so much of the buyer's USDC (6 decimals), without limit when left out. */
export const allowance = ({ protocol, chain }: PurchaseWorld, { account }: Buyer, amount?: bigint) =>
  approveUsdc(protocol, account, chain.deployment.contracts.coverRouter, amount);

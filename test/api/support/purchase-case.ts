/** A test case of `POST /api/v1/policies`: the expected response, and how to cause it. */
import { randomUUID } from "node:crypto";
import { approveUsdc } from "../../../scripts/local/protocol/actions/index.ts";
import type { HttpAnswer } from "../../support/http.ts";
import { isSimulation } from "../../support/ledger.ts";
import type { Buyer } from "./buyer.ts";
import type { PurchaseSetup } from "./purchase-setup.ts";

export const POLICIES = "/api/v1/policies";

export type PurchaseCase = {
  readonly name: string;
  readonly status: number;
  /** The error code; undefined for a successful purchase. */
  readonly code?: string;
  /** The number of policies that the buyer owns afterwards; default 0. */
  readonly policies?: number;
  /** Prepares the case and sends the purchase; `buyer` is new. */
  readonly send: (setup: PurchaseSetup, buyer: Buyer) => Promise<HttpAnswer>;
  /** Undoes the preparation, except for the proxies of the nodes, which are reset after every case. */
  readonly restore?: (setup: PurchaseSetup) => Promise<unknown>;
};

export const newKey = () => ({ "idempotency-key": randomUUID() });
export const bodyOf = ({ account }: Pick<Buyer, "account">) => ({
  productName: "FLASHBTC1H-001",
  coverageAmount: "100000000",
  buyer: account.address,
});

/** Changes the chain, and sends the purchase once the api sees the change. */
export const changeChain =
  (change: (setup: PurchaseSetup) => Promise<unknown>): PurchaseCase["send"] =>
  async (setup, buyer) => {
    await change(setup);
    await setup.waitForCacheExpiry();
    return buyer.buy();
  };

/** Changes the chain ahead of the writer's next simulation. */
export function beforeSimulation(
  setup: PurchaseSetup,
  change: (setup: PurchaseSetup) => Promise<unknown>,
): void {
  let changed: Promise<unknown> | undefined;
  setup.writerNode.intercept(async (call, forward) => {
    if (isSimulation(call)) {
      changed ??= change(setup);
      await changed;
    }
    return forward();
  });
}

/** Sets the router's allowance of the buyer's USDC (6 decimals); unlimited if omitted. */
export const setAllowance = ({ protocol, chain }: PurchaseSetup, { account }: Buyer, amount?: bigint) =>
  approveUsdc(protocol, account, chain.deployment.contracts.coverRouter, amount);

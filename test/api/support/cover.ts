/** An api and an indexer on a chain on which one wallet buys policies, and prices and time are pushed. */
import type { LocalAccount } from "viem";
import { anvilAccount } from "../../../lib/chain/client.ts";
import type { ProductTerms } from "../../../scripts/local/protocol/terms.ts";
import { usdc } from "../../support/ledger.ts";
import * as act from "../../support/protocol-actions.ts";
import { startApi, type TestApi } from "./api.ts";

export const HOUR = 3_600n;
export const owner = anvilAccount(0);
const buyer = anvilAccount(4);

/** A new policy, with the price at its purchase and its trigger price (8 decimals). */
export type Bought = {
  readonly product: ProductTerms;
  readonly productId: ProductTerms["productId"];
  readonly policyId: bigint;
  readonly price: bigint;
  readonly low: bigint;
  readonly createdAt: bigint;
  readonly expiresAt: bigint;
};

export type Cover = TestApi & {
  readonly buyer: LocalAccount;
  /** Refreshes the feeds, and buys a policy of 100 USDC. */
  readonly buy: (product: ProductTerms) => Promise<Bought>;
  /** Adds rounds with this price to the feed of the policy's asset. @returns the last one */
  readonly push: (policy: Bought, price: bigint, times?: number) => Promise<act.Round>;
  /** Mines a block with this timestamp. */
  readonly at: (timestamp: bigint) => Promise<void>;
};

export async function startCover(): Promise<Cover> {
  const api = await startApi({ services: ["api", "indexer"], chainOptions: { retired: false } });
  const { protocol, chain } = api;
  const { coverRouter, policyManager } = chain.deployment.contracts;
  for (const account of [buyer, owner]) {
    await act.mintUsdc(protocol, account, account.address, usdc(1_000_000));
    for (const spender of [coverRouter, policyManager]) await act.approveUsdc(protocol, account, spender);
  }
  return {
    ...api,
    buyer,
    async buy(product) {
      await act.refreshFeeds(protocol, owner);
      // The round of the strike is before the cover, also where blocks have the same second.
      await act.nextBlockAt(protocol, (await act.chainTime(protocol)) + 10n);
      const { policyId, receipt } = await act.purchase(protocol, buyer, product, usdc(100));
      const { timestamp: createdAt } = await chain.client.getBlock({ blockHash: receipt.blockHash });
      const { price } = await act.latestRound(protocol, product.symbol);
      const { productId, durationSeconds } = product;
      const low = await act.triggerPrice(protocol, product, policyId);
      return {
        product,
        productId,
        policyId,
        price,
        low,
        createdAt,
        expiresAt: createdAt + BigInt(durationSeconds),
      };
    },
    async push({ product: { symbol } }, price, times = 1) {
      for (let n = 0; n < times; n += 1) await act.pushPrice(protocol, owner, symbol, price);
      return act.latestRound(protocol, symbol);
    },
    at: (timestamp) => act.mineAt(protocol, timestamp),
  };
}

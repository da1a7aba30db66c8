/** The chain as the API reads it: bounded in time, and with the one failure `chain_not_found`. */
import type { Address, Hex } from "viem";
import { shareRead } from "../../lib/shared-read.ts";
import { contractsOf, type Dependencies } from "../dependencies.ts";
import { fromChain } from "../http/dependency-timeout.ts";
import type { AsOf } from "../policies/body.ts";
import { readFunds } from "./contracts/funds.ts";
import { type ChainPolicy, type PolicyKey, readPolicy } from "./contracts/policy.ts";
import { isSold, type ProductTerms, readProduct, readProducts } from "./contracts/products.ts";
import { readCapacity, readQuote, readSellingState, type SellingState } from "./contracts/selling.ts";

/** A block of the chain; `timestamp` in Unix seconds. */
export type ChainHead = { number: bigint; hash: Hex; timestamp: bigint };

/** How old the head may be that requests share, in ms: half the time of the fastest chain's block. */
const HEAD_TTL_MS = 500;
/** Terms change by an owner's transaction now and then; a list this old, in ms, hurts nobody. */
const PRODUCTS_TTL_MS = 3000;

/**
 * Each rejects with ApiError `chain_not_found` when the node does not answer in time, and with
 * `health_contracts_incomplete` when the deployment lacks contracts.
 */
export type ChainReads = {
  /** The newest block as the node tells it now. */
  head(): Promise<ChainHead>;
  /** The newest block, at most half a second old, read once for all who ask together. */
  recentHead(): Promise<ChainHead>;
  /** Every registered product, at most three seconds old, read once for all who ask together. */
  products(): Promise<ProductTerms[]>;
  /** Undefined when the router does not know the id. */
  product(productId: Hex): Promise<ProductTerms | undefined>;
  /** 6 decimals. */
  capacity(): Promise<bigint>;
  /** 6 decimals. */
  quote(productId: Hex, coverage: bigint): Promise<{ premium: bigint; payout: bigint }>;
  selling(relayers: readonly Address[]): Promise<SellingState>;
  /** What a buyer can pay the router after a block, 6 decimals. */
  funds(buyer: Address, blockNumber: bigint): Promise<{ balance: bigint; allowance: bigint }>;
  /** Undefined when there is no such policy. */
  policy(
    key: PolicyKey,
  ): Promise<{ policy: ChainPolicy & { productActive: boolean }; asOf: AsOf } | undefined>;
};

export function createChainReads({
  chain,
  deployment,
}: Pick<Dependencies, "chain" | "deployment">): ChainReads {
  const contracts = () => contractsOf(deployment);

  const head = () =>
    fromChain(async () => {
      const { number, hash, timestamp } = await chain.getBlock({ blockTag: "latest" });
      return { number, hash, timestamp };
    });

  return {
    head,
    recentHead: shareRead(HEAD_TTL_MS, head),
    products: shareRead(PRODUCTS_TTL_MS, () => fromChain(async () => readProducts(chain, contracts()))),
    product: (productId) => fromChain(async () => readProduct(chain, contracts(), productId)),
    capacity: () => fromChain(async () => readCapacity(chain, contracts())),
    quote: (productId, coverage) => fromChain(async () => readQuote(chain, contracts(), productId, coverage)),
    selling: (relayers) => fromChain(async () => readSellingState(chain, contracts(), relayers)),
    funds: (buyer, blockNumber) => fromChain(async () => readFunds(chain, contracts(), buyer, blockNumber)),
    policy: async (key) => {
      const [block, policy, product] = await Promise.all([
        head(),
        fromChain(async () => readPolicy(chain, contracts(), key)),
        fromChain(async () => readProduct(chain, contracts(), key.productId)),
      ]);
      if (!policy) return undefined;
      const productActive = product !== undefined && isSold(product);
      return { policy: { ...policy, productActive }, asOf: { source: "chain", ...block } };
    },
  };
}

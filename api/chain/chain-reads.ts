/** The API's reads of a chain, each within the time limit. */
import type { Address, Hex } from "viem";
import type { ReadClient } from "../../lib/chain/client.ts";
import type { Permit } from "../../lib/chain/permit.ts";
import type { Deployment, IncompleteDeployment } from "../../lib/deployments.ts";
import { shareRead } from "../../lib/shared-read.ts";
import { fromChain, nodeErrorIn } from "../http/dependency-timeout.ts";
import type { AsOf, ChainHead } from "./block.ts";
import { protocolOf } from "./contract-addresses.ts";
import { readWaitingUsdc, type WaitingUsdc } from "./contracts/burners.ts";
import { readFunds } from "./contracts/funds.ts";
import { readPermitFault } from "./contracts/permit.ts";
import { type PolicyKey, readPolicy } from "./contracts/policy.ts";
import { readAssetPrices } from "./contracts/prices.ts";
import { type ProductTerms, readProduct, readProducts } from "./contracts/products.ts";
import { type ProtocolState, readProtocolState, readVaultPrice } from "./contracts/protocol-state.ts";
import {
  readQuote,
  readRedemptionPrice,
  readSaleLimits,
  readSellingState,
  type SaleLimits,
  type SellingState,
} from "./contracts/selling.ts";
import { type PolicyRecord, policyRecord } from "./policy-body.ts";

/** Maximum age of a shared head, in ms: half the block time of the fastest chain. */
const HEAD_TTL_MS = 500;
/** Maximum age of the product list, in ms; terms change only by an owner's transaction. */
const PRODUCTS_TTL_MS = 3000;

/** Maximum age of the redemption price, in ms: about a block. */
const PRICE_TTL_MS = 2000;

export type ArrivedHead = ChainHead & {
  /** When this process first saw a block as high, by `performance.now`: a chain's clock may differ from ours. */
  readonly arrivedAt: number;
};

/**
 * Each rejects with ApiError `chain_not_found` when the node does not answer in time, with `contract_mismatch` when a contract
 * is not of the release, and with `health_contracts_incomplete` when the deployment lacks contracts.
 */
export type ChainReads = {
  /** The newest block, read now. */
  head(): Promise<ChainHead>;
  /**
   * What `read` reads at the newest block: an answer that names a block is read there. If the node answers with an error, it is read
   * once more, at the newest block then: of several nodes behind one address, one may lack the block that another has named.
   */
  atHead<T>(read: (block: ChainHead) => Promise<T>): Promise<T>;
  /** The newest block, at most half a second old; concurrent calls share one read. */
  recentHead(): Promise<ArrivedHead>;
  /** Every registered product, at most three seconds old; concurrent calls share one read. */
  products(): Promise<ProductTerms[]>;
  /** Undefined when the router does not know the id. At a block, by default the newest. */
  product(productId: Hex, blockNumber?: bigint): Promise<ProductTerms | undefined>;
  saleLimits(blockNumber: bigint): Promise<SaleLimits>;
  /** The vault's price of the protocol token, 18 decimals, at most two seconds old; null while it redeems nothing. */
  redemptionPrice(): Promise<bigint | null>;
  /** USDC (6 decimals) that burner and buyback engine hold and have not spent after a block. */
  waitingUsdc(blockNumber: bigint): Promise<WaitingUsdc>;
  /** The token's price by which the vault's views count after a block, 18 decimals. */
  vaultPrice(blockNumber: bigint): Promise<bigint>;
  /** Price, reserve, capacity and supply at the newest block. */
  protocolState(): Promise<ProtocolState & { block: ChainHead }>;
  /** 6 decimals. At a block, by default the newest. */
  quote(
    order: { productId: Hex; coverage: bigint },
    blockNumber?: bigint,
  ): Promise<{ premium: bigint; payout: bigint }>;
  selling(relayers: readonly Address[]): Promise<SellingState>;
  /** A buyer's USDC balance and its allowance to the router after a block, 6 decimals. */
  funds(buyer: Address, blockNumber: bigint): Promise<{ balance: bigint; allowance: bigint }>;
  /** Why USDC would refuse a buyer's permit for the router now; undefined when it would take it. */
  permitFault(buyer: Address, permit: Permit): Promise<string | undefined>;
  /** At the newest block. Undefined when there is no such policy. */
  policy(key: PolicyKey): Promise<{ policy: PolicyRecord; asOf: AsOf } | undefined>;
};

export function createChainReads({
  client,
  deployment,
}: {
  client: ReadClient;
  deployment: Deployment | IncompleteDeployment;
}): ChainReads {
  const protocol = () => protocolOf(deployment);
  const contracts = () => protocol().contracts;

  const head = () =>
    fromChain(async () => {
      const { number, hash, timestamp } = await client.getBlock({ blockTag: "latest" });
      return { number, hash, timestamp };
    });

  async function atHead<T>(read: (block: ChainHead) => Promise<T>): Promise<T> {
    const attempt = async () => read(await head());
    try {
      return await attempt();
    } catch (error) {
      if (!nodeErrorIn(error)) throw error;
      return attempt();
    }
  }

  let highest: { number: bigint; arrivedAt: number } | undefined;
  async function arrivedHead(): Promise<ArrivedHead> {
    const block = await head();
    if (!highest || block.number > highest.number)
      highest = { number: block.number, arrivedAt: performance.now() };
    return { ...block, arrivedAt: highest.arrivedAt };
  }

  return {
    head,
    atHead,
    recentHead: shareRead(HEAD_TTL_MS, arrivedHead),
    products: shareRead(PRODUCTS_TTL_MS, () => fromChain(async () => readProducts(client, protocol()))),
    product: (productId, at) => fromChain(async () => readProduct(client, protocol(), productId, at)),
    saleLimits: (at) => fromChain(async () => readSaleLimits(client, contracts(), at)),
    redemptionPrice: shareRead(PRICE_TTL_MS, () =>
      fromChain(async () => readRedemptionPrice(client, contracts())),
    ),
    waitingUsdc: (blockNumber) => fromChain(async () => readWaitingUsdc(client, contracts(), blockNumber)),
    vaultPrice: (blockNumber) => fromChain(async () => readVaultPrice(client, contracts(), blockNumber)),
    protocolState: () =>
      fromChain(async () => {
        const block = await head();
        return { block, ...(await readProtocolState(client, contracts(), block.number)) };
      }),
    quote: (order, at) => fromChain(async () => readQuote(client, contracts(), order, at)),
    selling: (relayers) => fromChain(async () => readSellingState(client, contracts(), relayers)),
    funds: (buyer, blockNumber) => fromChain(async () => readFunds(client, contracts(), buyer, blockNumber)),
    permitFault: (buyer, permit) =>
      fromChain(async () => readPermitFault(client, contracts(), buyer, permit)),
    policy: (key) =>
      atHead(async (block) => {
        const [policy, product, prices] = await Promise.all([
          fromChain(async () => readPolicy(client, protocol(), key, block.number)),
          fromChain(async () => readProduct(client, protocol(), key.productId, block.number)),
          fromChain(async () => readAssetPrices(client, contracts(), block.number)),
        ]);
        if (!policy) return undefined;
        return { policy: policyRecord(policy, product, prices), asOf: { source: "chain", ...block } };
      }),
  };
}

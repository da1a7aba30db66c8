import type { Address, Hex } from "viem";
import { bondVaultAbi } from "../../../abis/BondVault.ts";
import { coverRouterAbi } from "../../../abis/CoverRouter.ts";
import { globalPauseRegistryAbi } from "../../../abis/GlobalPauseRegistry.ts";
import { atBlock, type ReadClient } from "../../../lib/chain/client.ts";
import { findRevert, ifAnswered } from "../../../lib/chain/reverts.ts";
import type { Contracts } from "../../../lib/deployments.ts";
import { usdcOfDollars } from "../../../lib/vault-units.ts";
import { readTokenPrice } from "./token-price.ts";

/**
 * The vault's free capacity for payouts at a block, by default the newest; USDC with 6 decimals. Rejects when the node does not
 * answer.
 */
const readCapacity = async (
  chain: ReadClient,
  contracts: Contracts,
  blockNumber?: bigint,
): Promise<bigint> => {
  const dollars = await chain.readContract({
    address: contracts.bondVault,
    abi: bondVaultAbi,
    functionName: "availableCapacityUSD",
    ...atBlock(blockNumber),
  });
  return usdcOfDollars(dollars);
};

/**
 * The vault's price of the protocol token for redemptions, USD with 18 decimals; null while its oracle has none, or one at which
 * the vault may redeem nothing. Rejects when the node does not answer.
 */
export async function readRedemptionPrice(chain: ReadClient, contracts: Contracts): Promise<bigint | null> {
  const [{ price }, minimum] = await Promise.all([
    readTokenPrice(chain, contracts),
    chain.readContract({
      address: contracts.bondVault,
      abi: bondVaultAbi,
      functionName: "MIN_REDEEM_PRICE",
    }),
  ]);
  // At exactly the minimum V5.4 redeems nothing and the specification does: no price is promised there.
  return price !== null && price > minimum ? price : null;
}

/** The router's maximum coverage of a policy at a block, by default the newest (6 decimals); undefined for one without it. */
export async function readMaximumCoverage(
  chain: ReadClient,
  { coverRouter: address }: Contracts,
  blockNumber?: bigint,
): Promise<bigint | undefined> {
  const read = { address, abi: coverRouterAbi, functionName: "MAX_COVERAGE_PER_POLICY" } as const;
  return ifAnswered(chain.readContract({ ...read, ...atBlock(blockNumber) }));
}

/** The pauses that stop sales, and nothing else. */
export type Pauses = {
  readonly routerPaused: boolean;
  readonly globallyPaused: boolean;
  /** The token's price is too low for sales, or unknown. */
  readonly autoPaused: boolean;
  /** Why the router's price oracle has no price; null while it has one. */
  readonly priceFault: string | null;
};

/** Whether the token's price stops sales. A revert is the only way in which the oracle says that it has no price. */
async function readAutoPause(
  chain: ReadClient,
  { coverRouter: address }: Contracts,
  blockNumber: bigint | undefined,
): Promise<Pick<Pauses, "autoPaused" | "priceFault">> {
  const read = { address, abi: coverRouterAbi, functionName: "isProtocolAutoPaused" } as const;
  try {
    return { autoPaused: await chain.readContract({ ...read, ...atBlock(blockNumber) }), priceFault: null };
  } catch (error) {
    const revert = findRevert(error);
    if (revert) return { autoPaused: true, priceFault: revert.text };
    throw error;
  }
}

/** Reads the pauses at a block, by default the newest. Rejects when the node does not answer. */
export async function readPauses(
  chain: ReadClient,
  contracts: Contracts,
  blockNumber?: bigint,
): Promise<Pauses> {
  const { coverRouter, pauseRegistry } = contracts;
  const at = atBlock(blockNumber);
  const [routerPaused, globallyPaused, byPrice] = await Promise.all([
    chain.readContract({ address: coverRouter, abi: coverRouterAbi, functionName: "paused", ...at }),
    pauseRegistry !== undefined &&
      chain.readContract({
        address: pauseRegistry,
        abi: globalPauseRegistryAbi,
        functionName: "isGloballyPaused",
        ...at,
      }),
    readAutoPause(chain, contracts, blockNumber),
  ]);
  return { routerPaused, globallyPaused, ...byPrice };
}

/** Whether the chain's sequencer is up, and has been for an hour, at a block. Rejects when the node does not answer. */
export const readSequencerActive = (
  chain: ReadClient,
  { coverRouter }: Contracts,
  blockNumber: bigint,
): Promise<boolean> =>
  chain.readContract({
    address: coverRouter,
    abi: coverRouterAbi,
    functionName: "isSequencerActive",
    blockNumber,
  });

/** Premium and payout for a coverage, computed by the router at a block, by default the newest; all 6 decimals. Rejects for an unknown product. */
export async function readQuote(
  chain: ReadClient,
  contracts: Contracts,
  { productId, coverage }: { productId: Hex; coverage: bigint },
  blockNumber?: bigint,
): Promise<{ premium: bigint; payout: bigint }> {
  const [premium, payout] = await chain.readContract({
    address: contracts.coverRouter,
    abi: coverRouterAbi,
    functionName: "quotePremium",
    args: [productId, coverage],
    ...atBlock(blockNumber),
  });
  return { premium, payout };
}

/** The limits of a purchase, 6 decimals: the vault's free capacity for payouts, and the router's maximum coverage if it has one. */
export type SaleLimits = { capacity: bigint; maximumCoverage: bigint | undefined };

/** Reads the limits at a block, by default the newest. Rejects when the node does not answer. */
export async function readSaleLimits(
  chain: ReadClient,
  contracts: Contracts,
  blockNumber?: bigint,
): Promise<SaleLimits> {
  const [capacity, maximumCoverage] = await Promise.all([
    readCapacity(chain, contracts, blockNumber),
    readMaximumCoverage(chain, contracts, blockNumber),
  ]);
  return { capacity, maximumCoverage };
}

/** Whether the protocol sells cover now. */
export type SellingState = Pauses & SaleLimits & { relayers: { address: Address; authorized: boolean }[] };

/** Reads the state for these relayers in one request to the node. Rejects when the node does not answer. */
export async function readSellingState(
  chain: ReadClient,
  contracts: Contracts,
  relayers: readonly Address[],
): Promise<SellingState> {
  const router = { address: contracts.coverRouter, abi: coverRouterAbi } as const;
  const [authorized, pauses, limits] = await Promise.all([
    Promise.all(
      relayers.map(async (address) => ({
        address,
        authorized: await chain.readContract({
          ...router,
          functionName: "authorizedRelayers",
          args: [address],
        }),
      })),
    ),
    readPauses(chain, contracts),
    readSaleLimits(chain, contracts),
  ]);
  return { relayers: authorized, ...pauses, ...limits };
}

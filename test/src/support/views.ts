/** Entities from the contracts' views, in the format of the expected rows. */
import { type Address, erc20Abi, type Hex, zeroHash } from "viem";
import { bondMarketplaceAbi } from "../../../abis/BondMarketplace.ts";
import { bondVaultAbi } from "../../../abis/BondVault.ts";
import { claimBondAbi } from "../../../abis/ClaimBond.ts";
import { coverRouterAbi } from "../../../abis/CoverRouter.ts";
import { globalPauseRegistryAbi } from "../../../abis/GlobalPauseRegistry.ts";
import { policyManagerAbi } from "../../../abis/PolicyManager.ts";
import { priceOracleAbi } from "../../../abis/PriceOracle.ts";
import { protocolTokenAbi } from "../../../abis/ProtocolToken.ts";
import { findRevert } from "../../../lib/chain/reverts.ts";
import type { Deployment } from "../../../lib/deployments.ts";
import { catalogueTerms } from "../../../scripts/local/protocol/terms.ts";
import type { TestClient } from "../../support/chain.ts";
import { batched } from "./batched.ts";
import { observations } from "./observation-views.ts";
import { shieldTerms } from "./oracle-views.ts";
import type { Row } from "./rows.ts";

export type Policy = Row & {
  readonly expires_at: string;
  readonly triggered_at: string | null;
  readonly asset: string;
  readonly strike: string;
  readonly trigger_price: string;
};

/** Of each key the policy that the manager has now: one that was sold later takes the place of an earlier one. */
export async function policies(test: TestClient, deployment: Deployment): Promise<Policy[]> {
  const client = batched(test);
  const { coverRouter: address, bondVault } = deployment.contracts;
  const [sold, payments, observed, priceOracle] = await Promise.all([
    client.getContractEvents({
      ...{ abi: coverRouterAbi, address, eventName: "PolicyPurchased", fromBlock: 0n, strict: true },
    }),
    paymentsOf(client, deployment),
    observations(client, deployment),
    client.readContract({ abi: bondVaultAbi, address: bondVault, functionName: "priceOracle" }),
  ]);
  const newest = new Map(sold.map((log) => [`${log.args.productId} ${log.args.policyId}`, log]));
  return Promise.all(
    [...newest.values()].map(async ({ args: { productId, policyId }, blockNumber }) => ({
      ...(await readPolicy(client, deployment, productId, policyId, observed)),
      ...((await payments(productId, policyId, blockNumber)) ?? { triggered_at: null, bond_epoch_id: null }),
      price_snapshot: String(await priceAt(client, priceOracle, blockNumber)),
    })),
  );
}

/** The price of the oracle in the state after a block; 0 where it reverts. */
const priceAt = (client: TestClient, address: Address, blockNumber: bigint): Promise<bigint> =>
  client
    .readContract({ abi: priceOracleAbi, address, functionName: "getLuminaPrice", blockNumber })
    .catch((error: unknown) => {
      if (findRevert(error)) return 0n;
      throw error;
    });

/** Reads which policies were triggered since they were sold in a block, and with which bond: its log precedes the trigger's. */
async function paymentsOf(client: TestClient, { contracts: { policyManager, bondVault } }: Deployment) {
  const [triggers, bonds] = await Promise.all([
    client.getContractEvents({
      ...{ abi: policyManagerAbi, address: policyManager, eventName: "PolicyTriggered" },
      ...{ fromBlock: 0n, strict: true },
    }),
    client.getContractEvents({
      ...{ abi: bondVaultAbi, address: bondVault, eventName: "BondIssued", fromBlock: 0n, strict: true },
    }),
  ]);
  return async (productId: Hex, policyId: bigint, soldIn: bigint) => {
    const trigger = triggers.find(
      ({ args, blockNumber }) =>
        args.productId === productId && args.policyId === policyId && blockNumber > soldIn,
    );
    if (!trigger) return undefined;
    const bond = bonds.findLast(
      ({ transactionHash, logIndex }) =>
        transactionHash === trigger.transactionHash && logIndex < trigger.logIndex,
    );
    const { timestamp } = await client.getBlock({ blockNumber: trigger.blockNumber });
    return { triggered_at: String(timestamp), bond_epoch_id: String(bond?.args.epochId) };
  };
}

async function readPolicy(
  client: TestClient,
  { contracts }: Deployment,
  productId: Hex,
  policyId: bigint,
  observed: Awaited<ReturnType<typeof observations>>,
) {
  const policy = await client.readContract({
    abi: policyManagerAbi,
    address: contracts.policyManager,
    functionName: "getPolicy",
    args: [productId, policyId],
  });
  if (policy.productId === zeroHash) throw new Error(`${productId} has no policy ${policyId}`);
  const terms = await shieldTerms(client, policy.shield, policyId);
  const { strike, triggerPrice, asset, endsAt, shield } = terms;
  return {
    ...(await observed({ shield, policyId, asset })),
    product_id: productId,
    policy_id: policyId.toString(),
    shield: policy.shield.toLowerCase(),
    buyer: policy.buyer.toLowerCase(),
    coverage: policy.coverageAmount.toString(),
    payout: policy.payoutAmount.toString(),
    premium: policy.premiumPaid.toString(),
    created_at: policy.createdAt.toString(),
    expires_at: endsAt.toString(),
    asset,
    strike: strike.toString(),
    trigger_price: triggerPrice.toString(),
  };
}

/** Every product of the router. One that the catalogue lacks has no terms. */
export async function products(client: TestClient, { contracts }: Deployment): Promise<Row[]> {
  const router = { abi: coverRouterAbi, address: contracts.coverRouter } as const;
  const manager = { abi: policyManagerAbi, address: contracts.policyManager } as const;
  const count = await client.readContract({ ...router, functionName: "getProductCount" });
  const found: Row[] = [];
  for (let index = 0n; index < count; index++) {
    const productId = await client.readContract({ ...router, functionName: "productList", args: [index] });
    const args = [productId] as const;
    const shield = await client.readContract({ ...manager, functionName: "productShield", args });
    const active = await client.readContract({ ...manager, functionName: "productActive", args });
    const terms = catalogueTerms.find((known) => known.productId === productId);
    found.push({
      product_id: productId,
      name: terms?.name ?? null,
      shield: shield.toLowerCase(),
      asset: terms?.asset ?? null,
      duration_seconds: terms?.durationSeconds.toString() ?? null,
      trigger_drop_bps: terms?.triggerDropBps ?? null,
      active,
    });
  }
  return found;
}

/** Whether the router's own switch has a product on sale. */
export async function isActiveAtRouter(
  client: TestClient,
  { contracts }: Deployment,
  productId: Hex,
): Promise<boolean> {
  const router = { abi: coverRouterAbi, address: contracts.coverRouter } as const;
  const { active } = await client.readContract({
    ...router,
    functionName: "getProductConfig",
    args: [productId],
  });
  return active;
}

/** The balances of these holdings. */
export async function holdings(
  client: TestClient,
  { contracts }: Deployment,
  keys: readonly { owner: `0x${string}`; epochId: bigint }[],
): Promise<Row[]> {
  const bond = { abi: claimBondAbi, address: contracts.claimBond } as const;
  const found: Row[] = [];
  for (const { owner, epochId } of keys) {
    const args = [owner, epochId] as const;
    const balance = await client.readContract({ ...bond, functionName: "balanceOf", args });
    found.push({ owner, epoch_id: epochId.toString(), balance: balance.toString() });
  }
  return found;
}

export async function maturity(
  client: TestClient,
  { contracts }: Deployment,
  epochId: bigint,
): Promise<string> {
  const bond = { abi: claimBondAbi, address: contracts.claimBond } as const;
  return String(await client.readContract({ ...bond, functionName: "maturityDate", args: [epochId] }));
}

/** Every listing. Only the logs distinguish sold from cancelled ones. */
export async function listings(client: TestClient, { contracts }: Deployment): Promise<Row[]> {
  const market = { abi: bondMarketplaceAbi, address: contracts.marketplace } as const;
  const next = await client.readContract({ ...market, functionName: "nextListingId" });
  const found: Row[] = [];
  for (let listingId = 0n; listingId < next; listingId++) {
    const [seller, epochId, amount, price, active, listedAt] = await client.readContract({
      ...market,
      functionName: "listings",
      args: [listingId],
    });
    found.push({
      listing_id: listingId.toString(),
      seller: seller.toLowerCase(),
      epoch_id: epochId.toString(),
      amount: amount.toString(),
      price: price.toString(),
      block_timestamp: listedAt.toString(),
      active,
    });
  }
  return found;
}

/** What each of these sellers may withdraw, USDC with 6 decimals. */
export async function proceeds(
  client: TestClient,
  { contracts }: Deployment,
  sellers: readonly `0x${string}`[],
): Promise<Row[]> {
  const market = { abi: bondMarketplaceAbi, address: contracts.marketplace } as const;
  return Promise.all(
    sellers.map(async (seller) => {
      const credit = await client.readContract({
        ...market,
        functionName: "pendingWithdrawals",
        args: [seller],
      });
      return { seller, withdrawable: credit.toString() };
    }),
  );
}

/** The vault's totals, and the queues of these weeks. */
export async function vault(client: TestClient, { contracts }: Deployment, weeks: readonly bigint[]) {
  const target = { abi: bondVaultAbi, address: contracts.bondVault } as const;
  const token = { abi: erc20Abi, address: contracts.protocolToken } as const;
  const [totalReserved, committed, queued, reserve] = await Promise.all([
    client.readContract({ ...target, functionName: "totalReservedUSD" }),
    client.readContract({ ...target, functionName: "totalCommittedUSD" }),
    client.readContract({ ...target, functionName: "totalQueuedUSD" }),
    client.readContract({ ...token, functionName: "balanceOf", args: [contracts.bondVault] }),
  ]);
  const queue: Row[] = [];
  for (const week of weeks) {
    const length = await client.readContract({ ...target, functionName: "queueLength", args: [week] });
    for (let index = 0n; index < length; index++) {
      const args = [week, index] as const;
      const [holder, epochId, usdAmount] = await client.readContract({
        ...target,
        functionName: "queueByEpoch",
        args,
      });
      queue.push({
        queue_id: (week * 10_000n + index).toString(),
        holder: holder.toLowerCase(),
        epoch_id: epochId.toString(),
        // A paid entry's amount is 0.
        ...(usdAmount === 0n ? {} : { usd_amount: usdAmount.toString() }),
        target_epoch: week.toString(),
        status: usdAmount === 0n ? "paid" : "queued",
      });
    }
  }
  const state = {
    id: "vault",
    // USDC has 6 decimals, the vault's dollars 18.
    total_reserved: (totalReserved / 10n ** 12n).toString(),
    committed: committed.toString(),
    queued: queued.toString(),
    reserve: reserve.toString(),
  };
  return { state, queue };
}

/** What the vault tells of its current week, whole dollars and dollars with 18 decimals, and its capacity in whole dollars. */
export async function throttle(client: TestClient, { contracts }: Deployment) {
  const target = { abi: bondVaultAbi, address: contracts.bondVault } as const;
  const week = await client.readContract({ ...target, functionName: "currentEpoch" });
  const [[, , , , price], cap, redeemed, capacity] = await Promise.all([
    client.readContract({ ...target, functionName: "getStatus" }),
    client.readContract({ ...target, functionName: "maxRedeemThisEpoch" }),
    client.readContract({ ...target, functionName: "redeemedInEpoch", args: [week] }),
    client.readContract({ ...target, functionName: "availableCapacityUSD" }),
  ]);
  return { week, price, cap, redeemed, capacity };
}

/** The supply of an epoch's bonds. */
export const bondSupply = (client: TestClient, { contracts }: Deployment, epochId: bigint): Promise<bigint> =>
  client.readContract({
    abi: claimBondAbi,
    address: contracts.claimBond,
    functionName: "totalSupply",
    args: [epochId],
  });

/** The registry's pause, the router's by its owner, and whether the router has stored that the token's price is low. */
export async function pauses(client: TestClient, { contracts }: Deployment) {
  const router = { abi: coverRouterAbi, address: contracts.coverRouter } as const;
  const [global, manual, auto] = await Promise.all([
    contracts.pauseRegistry === undefined
      ? false
      : client.readContract({
          abi: globalPauseRegistryAbi,
          address: contracts.pauseRegistry,
          functionName: "isGloballyPaused",
        }),
    client.readContract({ ...router, functionName: "paused" }),
    client.readContract({ ...router, functionName: "autoPausedOnce" }),
  ]);
  return { global, router: manual, auto };
}

export async function isRelayer(
  client: TestClient,
  { contracts }: Deployment,
  address: `0x${string}`,
): Promise<boolean> {
  const router = { abi: coverRouterAbi, address: contracts.coverRouter } as const;
  return client.readContract({ ...router, functionName: "authorizedRelayers", args: [address] });
}

export async function tokenSupply(client: TestClient, { contracts }: Deployment): Promise<bigint> {
  const token = { abi: protocolTokenAbi, address: contracts.protocolToken } as const;
  return client.readContract({ ...token, functionName: "totalSupply" });
}

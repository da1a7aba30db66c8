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
import type { Deployment } from "../../../lib/deployments.ts";
import { allTerms } from "../../../scripts/local/protocol/terms.ts";
import type { TestClient } from "../../support/chain.ts";
import { batched } from "./batched.ts";
import { shieldTerms } from "./oracle-views.ts";
import type { Row } from "./rows.ts";

/** A time or id; the contracts use 0 for none. */
const orNull = (value: bigint) => (value === 0n ? null : value.toString());

export type Policy = Row & {
  readonly expires_at: string;
  readonly triggered_at: string | null;
  readonly asset: string;
  readonly strike: string;
  readonly trigger_price: string;
};

/** Every policy of every product. */
export async function policies(test: TestClient, { contracts }: Deployment): Promise<Policy[]> {
  const client = batched(test);
  const manager = { abi: policyManagerAbi, address: contracts.policyManager } as const;
  const ofProducts = await Promise.all(
    allTerms.map(async ({ productId }) => {
      const count = await client.readContract({ ...manager, functionName: "policyCount", args: [productId] });
      return Promise.all(
        Array.from({ length: Number(count) }, (_, n) =>
          readPolicy(client, manager, productId, BigInt(n + 1)),
        ),
      );
    }),
  );
  return ofProducts.flat();
}

async function readPolicy(
  client: TestClient,
  manager: { abi: typeof policyManagerAbi; address: Address },
  productId: Hex,
  policyId: bigint,
): Promise<Policy> {
  const args = [productId, policyId] as const;
  const [policy, details] = await Promise.all([
    client.readContract({ ...manager, functionName: "getPolicy", args }),
    client.readContract({ ...manager, functionName: "policyDetails", args }),
  ]);
  const { strike, triggerPrice, asset } = await shieldTerms(client, policy.shield, policyId);
  if (policy.productId === zeroHash) throw new Error(`${productId} has no policy ${policyId}`);
  return {
    product_id: productId,
    policy_id: policyId.toString(),
    shield: policy.shield.toLowerCase(),
    buyer: policy.buyer.toLowerCase(),
    coverage: policy.coverage.toString(),
    payout: policy.payout.toString(),
    premium: policy.premium.toString(),
    created_at: policy.createdAt.toString(),
    expires_at: policy.expiresAt.toString(),
    price_snapshot: details.priceSnapshot.toString(),
    triggered_at: orNull(details.triggeredAt),
    bond_epoch_id: orNull(details.bondEpochId),
    asset,
    strike: strike.toString(),
    trigger_price: triggerPrice.toString(),
  };
}

/** Every product of the router. One that the policy manager has removed is inactive. */
export async function products(client: TestClient, { contracts }: Deployment): Promise<Row[]> {
  const router = { abi: coverRouterAbi, address: contracts.coverRouter } as const;
  const count = await client.readContract({ ...router, functionName: "getProductCount" });
  const found: Row[] = [];
  for (let index = 0n; index < count; index++) {
    const productId = await client.readContract({ ...router, functionName: "productList", args: [index] });
    const terms = await client.readContract({
      ...router,
      functionName: "getProductConfig",
      args: [productId],
    });
    const active = await client.readContract({
      abi: policyManagerAbi,
      address: contracts.policyManager,
      functionName: "productActive",
      args: [productId],
    });
    found.push({
      product_id: productId,
      name: allTerms.find((t) => t.productId === productId)?.name,
      shield: terms.shield.toLowerCase(),
      asset: terms.asset,
      duration_seconds: terms.durationSeconds.toString(),
      premium_ppm: terms.premiumPpm.toString(),
      trigger_drop_bps: terms.triggerDropBps,
      active,
    });
  }
  return found;
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
  const [cap, redeemed, capacity] = await Promise.all([
    client.readContract({ ...target, functionName: "maxRedeemThisEpoch" }),
    client.readContract({ ...target, functionName: "redeemedInEpoch", args: [week] }),
    client.readContract({ ...target, functionName: "availableCapacityUSD" }),
  ]);
  return { week, cap, redeemed, capacity };
}

/** The supply of an epoch's bonds. */
export const bondSupply = (client: TestClient, { contracts }: Deployment, epochId: bigint): Promise<bigint> =>
  client.readContract({
    abi: claimBondAbi,
    address: contracts.claimBond,
    functionName: "totalSupply",
    args: [epochId],
  });

/** The price of the vault's oracle, 18 decimals. */
export async function tokenPrice(client: TestClient, { contracts }: Deployment): Promise<bigint> {
  const vault = { abi: bondVaultAbi, address: contracts.bondVault } as const;
  const address = await client.readContract({ ...vault, functionName: "priceOracle" });
  return client.readContract({ abi: priceOracleAbi, address, functionName: "getLuminaPrice" });
}

/** The global pause and the router's. */
export async function pauses(client: TestClient, { contracts }: Deployment) {
  const registry = { abi: globalPauseRegistryAbi, address: contracts.pauseRegistry } as const;
  const [global, router] = await Promise.all([
    client.readContract({ ...registry, functionName: "isGloballyPaused" }),
    client.readContract({ abi: coverRouterAbi, address: contracts.coverRouter, functionName: "paused" }),
  ]);
  return { global, router };
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

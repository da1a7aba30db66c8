/** The seeded history of a dev stack. */
import { type ContractEventName, type Log, parseAbiItem, parseEventLogs, zeroAddress } from "viem";
import { beforeAll, describe, expect, test } from "vitest";
import { bondMarketplaceAbi } from "../../abis/BondMarketplace.ts";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { buybackEngineAbi } from "../../abis/BuybackEngine.ts";
import { claimBondAbi } from "../../abis/ClaimBond.ts";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { globalPauseRegistryAbi } from "../../abis/GlobalPauseRegistry.ts";
import { policyManagerAbi } from "../../abis/PolicyManager.ts";
import { twapBurnerAbi } from "../../abis/TwapBurner.ts";
import { catalogue } from "../../lib/products.ts";
import {
  chainTime,
  openProtocol,
  type Protocol,
  productConfigOf,
  purchase,
} from "../../scripts/local/protocol/actions/index.ts";
import { retiredTerms, termsOf } from "../../scripts/local/protocol/terms.ts";
import { seedAccounts } from "../../scripts/local/seed/accounts.ts";
import { DAY } from "../../scripts/local/seed/timeline.ts";
import { seedHistory } from "../../scripts/local/seed.ts";
import { startChain } from "../support/chain.ts";
import { relayer, USDC } from "./support.ts";

const everything = [
  ...coverRouterAbi,
  ...policyManagerAbi,
  ...bondVaultAbi,
  ...claimBondAbi,
  ...bondMarketplaceAbi,
  ...twapBurnerAbi,
  ...buybackEngineAbi,
  ...globalPauseRegistryAbi,
] as const;
type EventName = ContractEventName<typeof everything>;

let protocol: Protocol;
let wallClock = 0;
let logs: Log<bigint, number, false>[];
let events: { name: EventName; address: string; timestamp: number; args: unknown }[];

beforeAll(async () => {
  const timestamp = BigInt(Math.floor(Date.now() / 1000) - 800 * DAY);
  const { url, deployment } = await startChain({ timestamp, retired: false });
  await seedHistory({ rpcUrl: url, deployment });
  wallClock = Date.now() / 1000;
  protocol = openProtocol(deployment, url);
  logs = await protocol.client.getLogs({ fromBlock: 0n, toBlock: "latest" });
  const numbers = [...new Set(logs.map((log) => log.blockNumber))];
  const blocks = await Promise.all(numbers.map((blockNumber) => protocol.client.getBlock({ blockNumber })));
  const times = new Map(blocks.map((block) => [block.number, Number(block.timestamp)]));
  events = parseEventLogs({ abi: everything, logs }).map((event) => ({
    name: event.eventName,
    address: event.address,
    timestamp: times.get(event.blockNumber) ?? 0,
    args: event.args,
  }));
});

const named = (name: EventName) => events.filter((event) => event.name === name);
const policiesOf = async (productId: `0x${string}`) => {
  const read = { abi: policyManagerAbi, address: protocol.deployment.contracts.policyManager } as const;
  const bought = parseEventLogs({ abi: coverRouterAbi, logs, eventName: "PolicyPurchased" });
  const ids = bought.flatMap(({ args }) => (args.productId === productId ? [args.policyId] : []));
  return Promise.all(
    ids.map((id) =>
      protocol.client.readContract({ ...read, functionName: "getPolicy", args: [productId, id] }),
    ),
  );
};

describe("the seeded history", () => {
  test("ends at the current time, with feeds that allow purchases", async () => {
    expect(Math.abs(Number(await chainTime(protocol)) - wallClock)).toBeLessThan(5);
    const bought = await purchase(protocol, seedAccounts.bob, termsOf("FLASHBTC1H-001"), 100n * USDC);
    expect(bought.policyId).toBeGreaterThan(1n);
  });

  test("has open policies of each product in the catalogue, by several buyers", async () => {
    const now = await chainTime(protocol);
    const holders = new Set<string>();
    for (const { productId } of catalogue) {
      const policies = await policiesOf(productId);
      expect(policies.some((p) => p.expiresAt >= now && !p.triggered)).toBe(true);
      for (const { buyer } of policies) holders.add(buyer);
    }
    expect(holders.size).toBe(5);
  });

  test("has a policy in every status", async () => {
    const now = await chainTime(protocol);
    const products = [...catalogue, retiredTerms];
    const all = (await Promise.all(products.map(({ productId }) => policiesOf(productId)))).flat();
    const open = all.filter((p) => !p.triggered && !p.expired);
    expect({
      triggered: all.some((p) => p.triggered),
      markedExpired: all.some((p) => p.expired),
      expiredByTime: open.some((p) => p.expiresAt < now),
      active: open.some((p) => p.expiresAt >= now),
    }).toEqual({ triggered: true, markedExpired: true, expiredByTime: true, active: true });
  });

  test("leaves the retired product inactive at the manager alone, and the router open", async () => {
    const { coverRouter, policyManager } = protocol.deployment.contracts;
    expect((await productConfigOf(protocol, retiredTerms.productId)).active).toBe(true);
    const sold = { abi: policyManagerAbi, address: policyManager, functionName: "productActive" } as const;
    expect(await protocol.client.readContract({ ...sold, args: [retiredTerms.productId] })).toBe(false);
    const router = { abi: coverRouterAbi, address: coverRouter } as const;
    expect(await protocol.client.readContract({ ...router, functionName: "paused" })).toBe(false);
    expect(await protocol.client.readContract({ ...router, functionName: "isProtocolAutoPaused" })).toBe(
      false,
    );
  });

  test("has sold, cancelled and open listings, and two sold today", () => {
    const closed = named("Cancelled").length;
    expect(closed).toBe(1);
    const sales = named("Bought").map((e) => wallClock - e.timestamp);
    expect(sales.length).toBe(8);
    expect(Math.min(...sales)).toBeLessThan(DAY);
    expect(named("Listed").length - closed - sales.length).toBe(2);
  });

  test("has sellers who have withdrawn, one who sold again since, and one who never did", async () => {
    expect(named("Withdrawn").length).toBe(2);
    const credits = [seedAccounts.alice, seedAccounts.erin, seedAccounts.bob].map((seller) =>
      protocol.client.readContract({
        abi: bondMarketplaceAbi,
        address: protocol.deployment.contracts.marketplace,
        functionName: "pendingWithdrawals",
        args: [seller.address],
      }),
    );
    // 98.5 % of 93, 93 and 47 USDC, and of 655 USDC.
    expect(await Promise.all(credits)).toEqual([0n, 229_505_000n, 645_175_000n]);
  });

  test("has redemptions paid at once, two paid from the queue, one stranded in it, and one still queued", async () => {
    expect(named("BondRedeemed").length).toBe(7);
    expect(named("BondQueued").length).toBe(4);
    expect(named("QueueProcessed").map((e) => e.args)).toMatchObject([{ count: 2n }]);
    // One by a holder, and four by the buyback engine.
    expect(named("BondsBurnedByHolder").length).toBe(5);
    const waiting = await protocol.client.readContract({
      abi: bondVaultAbi,
      address: protocol.deployment.contracts.bondVault,
      functionName: "totalQueuedUSD",
    });
    expect(waiting).toBe(1_200n * 10n ** 18n);
  });

  test("has burns and buybacks on several days of the last month, and direct burns", async () => {
    const { protocolToken } = protocol.deployment.contracts;
    const days = (name: EventName) =>
      new Set(
        named(name)
          .filter((e) => wallClock - e.timestamp < 30 * DAY)
          .map((e) => Math.floor(e.timestamp / DAY)),
      ).size;
    expect(days("BurnExecuted")).toBeGreaterThanOrEqual(4);
    expect(days("DoubleBurnExecuted")).toBeGreaterThanOrEqual(3);
    const burned = await protocol.client.getLogs({
      address: protocolToken,
      event: parseAbiItem("event Transfer(address indexed from, address indexed to, uint256 value)"),
      args: { to: zeroAddress },
      fromBlock: 0n,
    });
    // Two by holders, and one of the vault's free reserve.
    expect(burned.length).toBe(named("BurnExecuted").length + named("DoubleBurnExecuted").length + 3);
    expect(named("ReservesBurned").length).toBe(1 + named("DoubleBurnExecuted").length);
  });

  test("has pauses of all three kinds, each started and ended", () => {
    expect(named("Paused").map((e) => e.args)).toEqual([{ state: true }, { state: false }]);
    expect(named("GlobalPauseToggled").length).toBe(2);
    expect([named("AutoPauseActivated").length, named("AutoPauseDeactivated").length]).toEqual([1, 1]);
  });

  test("sends nothing from the relayer's account", async () => {
    expect(await protocol.client.getTransactionCount({ address: relayer.address })).toBe(0);
  });
});

test("rejects a chain with a later genesis", async () => {
  const timestamp = BigInt(Math.floor(Date.now() / 1000) - 100 * DAY);
  const { url, deployment } = await startChain({ timestamp, retired: false });
  await expect(seedHistory({ rpcUrl: url, deployment })).rejects.toThrow(/genesis must be 800 days ago/);
});

/** Fills a chain with days of real transactions: purchases, payouts, bond sales and burns. */
import { encodeFunctionData, type LocalAccount, parseEventLogs } from "viem";
import { bondMarketplaceAbi } from "../abis/BondMarketplace.ts";
import { bondVaultAbi } from "../abis/BondVault.ts";
import { claimBondAbi } from "../abis/ClaimBond.ts";
import { coverRouterAbi } from "../abis/CoverRouter.ts";
import { mockPriceFeedAbi } from "../abis/MockPriceFeed.ts";
import { protocolTokenAbi } from "../abis/ProtocolToken.ts";
import { twapBurnerAbi } from "../abis/TwapBurner.ts";
import { anvilAccount } from "../lib/chain/client.ts";
import { upkeepCalldata } from "../lib/chain/trigger.ts";
import { DWELL, OBSERVATION_INTERVAL } from "../lib/price-rules.ts";
import * as act from "../scripts/local/protocol/actions/index.ts";
import { termsOf } from "../scripts/local/protocol/terms.ts";
import { type Call, call, type Miner, takeOverMining } from "./miner.ts";

const USDC = 1_000_000n;
const owner = anvilAccount(0);
const buyers = [2, 3, 4, 5, 6, 7, 8, 9].map((index) => anvilAccount(index));
/** Blocks with purchases in a day, and purchases in each block. Three of four events come from purchases. */
const PURCHASE_BLOCKS = 6;
const PURCHASES = 10;
/** BTC in USD with 8 decimals, and a price low enough to trigger every product. */
const PRICE = 6_000_000_000_000n;
const FALLEN = 4_800_000_000_000n;

const products = [termsOf("FLASHBTC24-001"), termsOf("FLASHBTC48-001")];

export type BusyChain = Miner & {
  /** Adds whole days until at least `events` events were added. @returns their number. */
  readonly add: (events: number) => Promise<number>;
  /** Mines a block with ten purchases: fifty events. */
  readonly addPurchases: () => Promise<void>;
};

async function fund(protocol: act.Protocol): Promise<void> {
  const { coverRouter, marketplace, twapBurner } = protocol.deployment.contracts;
  for (const account of [owner, ...buyers]) {
    await act.mintUsdc(protocol, owner, account.address, 10_000_000n * USDC);
    for (const spender of [coverRouter, marketplace]) await act.approveUsdc(protocol, account, spender);
    await act.approveMarketplace(protocol, account);
  }
  await act.mintUsdc(protocol, owner, twapBurner, 10_000_000n * USDC);
  // A day has several burns of a dollar.
  for (const [functionName, value] of [
    ["setBurnCooldown", 0n],
    ["setMaxBurnAmount", USDC],
  ] as const) {
    const data = encodeFunctionData({ abi: twapBurnerAbi, functionName, args: [value] });
    await act.send(protocol, owner, twapBurner, data);
  }
}

/** Funds the buyers on a chain that was deployed with `retired: false`, and takes over its mining. */
export async function openBusyChain(protocol: act.Protocol): Promise<BusyChain> {
  const { client } = protocol;
  const { contracts } = protocol.deployment;
  await fund(protocol);
  const miner = await takeOverMining(protocol);
  const { mine } = miner;

  const push = (price: bigint) => call(owner, contracts.btcUsdFeed, mockPriceFeedAbi, "push", price);
  const refresh = (feed: `0x${string}`) => call(owner, feed, mockPriceFeedAbi, "refresh");
  const byEach = (make: (buyer: LocalAccount, index: number) => Call): Call[] => buyers.map(make);

  function purchases(day: number, block: number): Call[] {
    return Array.from({ length: PURCHASES }, (_, index) => {
      const buyer = buyers[(block * PURCHASES + index) % buyers.length] ?? owner;
      const { productId, asset } = products[(block + index) % products.length] ?? termsOf("FLASHBTC24-001");
      const coverage = 100n * USDC + BigInt(day * 1000 + index);
      return call(buyer, contracts.coverRouter, coverRouterAbi, "purchasePolicy", productId, coverage, asset);
    });
  }

  /** Each buyer's first policy since a block. */
  async function policiesSince(fromBlock: bigint) {
    const logs = await client.getLogs({ address: contracts.coverRouter, fromBlock });
    const bought = parseEventLogs({ abi: coverRouterAbi, logs, eventName: "PolicyPurchased" });
    return buyers.map(({ address }) => {
      const first = bought.find(({ args }) => args.buyer === address)?.args;
      if (!first) throw new Error(`${address} has bought no policy`);
      return first;
    });
  }

  /** Upkeeps of these policies, those of one product by one account. */
  function upkeeps(policies: Awaited<ReturnType<typeof policiesSince>>): Call[] {
    const { shieldKeeper } = contracts;
    if (shieldKeeper === undefined) throw new Error("the deployment has no keeper contract");
    return products.map(({ productId }) => {
      const own = policies.filter((policy) => policy.productId === productId);
      const ids = own.map(({ policyId }) => policyId);
      return { from: owner, to: shieldKeeper, data: upkeepCalldata(productId, ids) };
    });
  }

  const read = { abi: bondMarketplaceAbi, address: contracts.marketplace } as const;
  let listings = await client.readContract({ ...read, functionName: "nextListingId" });

  async function sellBonds(epochId: bigint): Promise<void> {
    const { marketplace } = contracts;
    await mine(
      byEach((seller) => call(seller, marketplace, bondMarketplaceAbi, "list", epochId, 20n, 21n * USDC)),
    );
    const first = listings;
    listings += BigInt(buyers.length);
    await mine(
      byEach((buyer, index) =>
        call(buyer, marketplace, bondMarketplaceAbi, "executeBuy", first + BigInt(index)),
      ),
    );
  }

  async function day(number: number): Promise<void> {
    const begin = (await miner.newest()) + 1n;
    await mine([push(PRICE), refresh(contracts.ethUsdFeed)]);
    for (let block = 0; block < PURCHASE_BLOCKS; block++) await mine(purchases(number, block));

    const policies = await policiesSince(begin);
    const fallen = await miner.newest();
    for (const seconds of [DWELL, OBSERVATION_INTERVAL, OBSERVATION_INTERVAL])
      await mine([push(FALLEN), ...upkeeps(policies)], seconds);
    await mine([push(PRICE)]);

    const logs = await client.getLogs({ address: contracts.bondVault, fromBlock: fallen });
    const [issued] = parseEventLogs({ abi: bondVaultAbi, logs, eventName: "BondIssued" });
    if (!issued) throw new Error("no policy was paid");
    const { epochId: bondEpochId } = issued.args;
    await sellBonds(bondEpochId);

    const { twapBurner, protocolToken, claimBond, marketplace } = contracts;
    await mine([
      ...Array.from({ length: 3 }, () => call(owner, twapBurner, twapBurnerAbi, "executeBurn")),
      call(owner, protocolToken, protocolTokenAbi, "burn", 1n),
      ...byEach((seller) => call(seller, marketplace, bondMarketplaceAbi, "withdraw")),
      ...buyers
        .slice(0, 2)
        .map((holder) =>
          call(holder, claimBond, claimBondAbi, "burnByHolder", holder.address, bondEpochId, 1n),
        ),
    ]);
  }

  return {
    ...miner,
    addPurchases: () => mine(purchases(0, 0)),
    async add(events) {
      let added = 0;
      for (let number = 0; added < events; number++) {
        const before = await miner.newest();
        await day(number);
        added += await miner.events(before + 1n, await miner.newest());
      }
      return added;
    },
  };
}

/** Makes many events of all types cheaply, in blocks of many calls that the test mines. A seed decides its random choices. */
import fc from "fast-check";
import { type Hex, type LocalAccount, parseEventLogs } from "viem";
import { bondMarketplaceAbi } from "../../../abis/BondMarketplace.ts";
import { bondVaultAbi } from "../../../abis/BondVault.ts";
import { coverRouterAbi } from "../../../abis/CoverRouter.ts";
import { mockPriceFeedAbi } from "../../../abis/MockPriceFeed.ts";
import { protocolTokenAbi } from "../../../abis/ProtocolToken.ts";
import { type Call, call } from "../../../bench/miner.ts";
import { anvilAccount } from "../../../lib/chain/client.ts";
import { upkeepCalldata } from "../../../lib/chain/trigger.ts";
import { DWELL, OBSERVATION_INTERVAL } from "../../../lib/price-rules.ts";
import * as act from "../../../scripts/local/protocol/actions/index.ts";
import { catalogueTerms } from "../../../scripts/local/protocol/terms.ts";
import type { TestChain } from "../../support/chain.ts";

const USDC = 1_000_000n;
/** BTC in USD with 8 decimals: the usual price, and one below every trigger price. */
const PRICE = 6_000_000_000_000n;
const FALLEN = 4_800_000_000_000n;
const SECONDS_PER_BLOCK = 2;
/** How many blocks back calls refer to policies, bonds and listings. */
const LOOK_BACK = 20n;
/** Gas limit, above the need of every call of the protocol; a block has room for two hundred. */
const GAS = 1_500_000n;
const DRAWS = 50_000;
/** Policies in one upkeep: so many payouts fit into the gas limit. */
const UPKEEP = 5;
/** Confirmations after which Ponder regards a block as final. */
const FINAL = 32;
/** The deepest reorganisation. */
const DEEPEST = 10;

/** The wallets with subscriptions. */
export const players: readonly LocalAccount[] = [2, 3, 4, 5, 6, 7].map((index) => anvilAccount(index));

export type EventMaker = {
  readonly protocol: act.Protocol;
  /** Mines a block, most with a few more events than `purchases`, one in ten without any for subscribers. */
  readonly block: () => Promise<void>;
  /** Replaces some of the newest blocks; the new ones have all, some or none of their calls. */
  readonly reorganise: () => Promise<void>;
  /** Mines a block after the end of the one-hour policies. */
  readonly passAnHour: () => Promise<void>;
  /** Mines a block of burns, each an event for every subscription to burns. */
  readonly burns: (count: number) => Promise<void>;
  readonly random: (below: number) => number;
};

/** Evenly distributed numbers below a bound, by the seed. */
function createRandom(seed: number): (below: number) => number {
  const draws = fc.sample(fc.noBias(fc.nat()), { seed, numRuns: DRAWS });
  let next = 0;
  return (below) => {
    next = (next + 1) % DRAWS;
    return (draws[next] ?? 0) % below;
  };
}

const bitcoin = catalogueTerms.filter(({ symbol }) => symbol === "BTC");

async function fundPlayers(protocol: act.Protocol, owner: LocalAccount): Promise<void> {
  const { coverRouter, marketplace, policyManager } = protocol.deployment.contracts;
  for (const account of [...players, owner]) {
    await act.mintUsdc(protocol, owner, account.address, 10_000_000n * USDC);
    for (const spender of [coverRouter, marketplace, policyManager])
      await act.approveUsdc(protocol, account, spender);
    await act.approveMarketplace(protocol, account);
  }
  await act.refreshFeeds(protocol, owner);
}

/**
 * Prepares a chain that was started with `retired: false`, and takes control of its mining. `purchases`: in most blocks, with other
 * calls in proportion.
 */
export async function openEventMaker(
  chain: TestChain,
  seed: number,
  { purchases = 24 }: { readonly purchases?: number } = {},
): Promise<EventMaker> {
  const { client, owner, deployment } = chain;
  const { contracts } = deployment;
  const { shieldKeeper } = contracts;
  const protocol = act.openProtocol(deployment, chain.url);
  const random = createRandom(seed);
  /** The signed calls of the newest blocks, with their senders. */
  let recent: { readonly from: string; readonly bytes: Hex }[][] = [];

  const one = <Item>(items: readonly Item[]): Item | undefined => items[random(items.length || 1)];
  const some = <Item>(items: readonly Item[], count: number): Item[] =>
    Array.from({ length: Math.min(count, items.length) }, () => one(items)).flatMap((item) => item ?? []);
  const player = (address?: string): LocalAccount =>
    players.find((account) => account.address === address) ?? one(players) ?? owner;

  async function mine(calls: readonly Call[]): Promise<void> {
    const nonces = new Map<string, number>();
    const senders = [...new Set(calls.map(({ from }) => from.address))];
    await Promise.all(
      senders.map(async (address) =>
        nonces.set(address, await protocol.client.getTransactionCount({ address })),
      ),
    );
    const signed: { from: string; bytes: Hex }[] = [];
    for (const { from, to, data } of calls) {
      const nonce = nonces.get(from.address) ?? 0;
      nonces.set(from.address, nonce + 1);
      const fees = { gas: GAS, maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 1n };
      const { chainId } = deployment;
      const bytes = await from.signTransaction({ type: "eip1559", chainId, nonce, to, data, ...fees });
      signed.push({ from: from.address, bytes });
    }
    // In one request; without automine the pool orders them by nonce.
    await Promise.all(
      signed.map(({ bytes }) => protocol.client.sendRawTransaction({ serializedTransaction: bytes })),
    );
    await client.mine({ blocks: 1 });
    recent = [...recent, signed].slice(-DEEPEST);
  }

  const push = (price: bigint): Call => call(owner, contracts.btcUsdFeed, mockPriceFeedAbi, "push", price);

  /** The policies, bonds and listings of the newest blocks. */
  async function recentItems() {
    const head = await client.getBlockNumber();
    const address = [contracts.coverRouter, contracts.bondVault, contracts.marketplace];
    const logs = await client.getLogs({ address, fromBlock: head > LOOK_BACK ? head - LOOK_BACK : 0n });
    return {
      policies: parseEventLogs({ abi: coverRouterAbi, logs, eventName: "PolicyPurchased" }).map(
        ({ args }) => args,
      ),
      bonds: parseEventLogs({ abi: bondVaultAbi, logs, eventName: "BondIssued" }).map(({ args }) => args),
      listings: parseEventLogs({ abi: bondMarketplaceAbi, logs, eventName: "Listed" }).map(
        ({ args }) => args,
      ),
    };
  }

  function purchase(): Call {
    const { productId, asset } = one(catalogueTerms) ?? catalogueTerms[0] ?? { productId: "0x", asset: "0x" };
    const coverage = 100n * USDC + BigInt(random(1000));
    return call(
      player(),
      contracts.coverRouter,
      coverRouterAbi,
      "purchasePolicy",
      productId,
      coverage,
      asset,
    );
  }
  const onListing = (from: LocalAccount, name: "executeBuy" | "cancel", listingId: bigint): Call =>
    call(from, contracts.marketplace, bondMarketplaceAbi, name, listingId);

  /** Calls that may revert, because their item is closed or a reorganisation removed it. */
  async function mixedCalls(): Promise<Call[]> {
    const { bonds, listings } = await recentItems();
    return [
      push(PRICE),
      ...Array.from({ length: purchases }, purchase),
      ...some(bonds, Math.ceil(purchases / 4)).map(({ to, epochId }) =>
        call(player(to), contracts.marketplace, bondMarketplaceAbi, "list", epochId, 1n, USDC),
      ),
      ...some(listings, Math.ceil(purchases / 6)).map(({ listingId }) =>
        onListing(player(), "executeBuy", listingId),
      ),
      ...some(listings, Math.ceil(purchases / 12)).map(({ listingId, seller }) =>
        onListing(player(seller), "cancel", listingId),
      ),
      burn(),
    ];
  }
  const burn = (): Call =>
    call(owner, contracts.protocolToken, protocolTokenAbi, "burn", BigInt(1 + random(1_000_000)));

  /** Upkeeps of a few policies of each product, by any account. */
  function upkeeps(policies: readonly { readonly productId: Hex; readonly policyId: bigint }[]): Call[] {
    return bitcoin.flatMap(({ productId }) => {
      const own = policies.filter((policy) => policy.productId === productId);
      const ids = [...new Set(own.map(({ policyId }) => policyId))].slice(0, UPKEEP);
      if (ids.length === 0 || shieldKeeper === undefined) return [];
      return [{ from: player(), to: shieldKeeper, data: upkeepCalldata(productId, ids) }];
    });
  }

  /** Three low rounds, each with an observation of some of the newest policies: the third pays them. */
  async function triggers(): Promise<void> {
    const { policies } = await recentItems();
    const chosen = some(policies, 2 * UPKEEP);
    for (const seconds of [DWELL, OBSERVATION_INTERVAL, OBSERVATION_INTERVAL]) {
      await act.nextBlockAt(protocol, (await act.chainTime(protocol)) + BigInt(seconds));
      await mine([push(FALLEN), refreshed(contracts.ethUsdFeed), ...upkeeps(chosen)]);
    }
    await mine([push(PRICE)]);
  }

  await fundPlayers(protocol, owner);
  await client.setAutomine(false);
  await client.setBlockTimestampInterval({ interval: SECONDS_PER_BLOCK });
  await client.mine({ blocks: FINAL });

  let blocks = 0;
  return {
    protocol,
    random,
    async block() {
      blocks += 1;
      if (blocks % 5 === 0) await triggers();
      else await mine(await mixedCalls());
    },
    burns: (count) => mine(Array.from({ length: count }, burn)),
    async reorganise() {
      const before = await act.chainTime(protocol);
      const depth = 1 + random(Math.min(DEEPEST, recent.length));
      const dropped = recent.slice(-depth);
      const mode = random(3);
      // Nonces allow only a sender's first calls to return. Each returns one block later.
      const kept = new Map<string, number>();
      const returning = dropped.flatMap((calls, index) =>
        calls.flatMap(({ from, bytes }) => {
          const left = kept.get(from) ?? (mode === 0 ? 0 : mode === 1 ? 1_000 : random(20));
          kept.set(from, left - 1);
          return left > 0 ? [[bytes, Math.min(index + 1, depth - 1)] as const] : [];
        }),
      );
      await client.request<{
        Method: "anvil_reorg";
        Parameters: [number, readonly (readonly [Hex, number])[]];
        ReturnType: null;
      }>({ method: "anvil_reorg", params: [depth, returning] });
      // Time does not go back: a policy may have become due by it.
      if ((await act.chainTime(protocol)) < before) await act.nextBlockAt(protocol, before);
      recent = [];
    },
    async passAnHour() {
      await act.nextBlockAt(protocol, (await act.chainTime(protocol)) + 3_600n + 1n);
      await client.mine({ blocks: 1 });
      await mine([push(PRICE), refreshed(contracts.ethUsdFeed)]);
      recent = [];
    },
  };

  function refreshed(feed: Hex): Call {
    return call(owner, feed, mockPriceFeedAbi, "refresh");
  }
}

/** Makes many events of all sorts cheaply: blocks of many calls, which come when the test says so. Random by its seed. */
import fc from "fast-check";
import { type Hex, type LocalAccount, parseEventLogs } from "viem";
import { bondMarketplaceAbi } from "../../../abis/BondMarketplace.ts";
import { bondVaultAbi } from "../../../abis/BondVault.ts";
import { coverRouterAbi } from "../../../abis/CoverRouter.ts";
import { mockPriceFeedAbi } from "../../../abis/MockPriceFeed.ts";
import { policyManagerAbi } from "../../../abis/PolicyManager.ts";
import { protocolTokenAbi } from "../../../abis/ProtocolToken.ts";
import { type Call, call } from "../../../bench/miner.ts";
import { anvilAccount } from "../../../lib/chain/client.ts";
import * as act from "../../../scripts/local/protocol/actions/index.ts";
import { catalogueTerms } from "../../../scripts/local/protocol/terms.ts";
import type { TestChain } from "../../support/chain.ts";

const USDC = 1_000_000n;
/** BTC in USD with 8 decimals, and when it has fallen enough for every product. */
const PRICE = 6_000_000_000_000n;
const FALLEN = 4_800_000_000_000n;
const SECONDS_PER_BLOCK = 2;
/** What happened longer ago is left alone, in blocks. */
const MEMORY = 20n;
/** More than any call of the protocol takes; a block has room for two hundred. */
const GAS = 1_500_000n;
const DRAWS = 50_000;
/** Ponder counts a block as final when so many follow it. */
const FINAL = 32;
/** The deepest reorganisation. */
const DEEPEST = 10;

/** Those whose events are watched. */
export const players: readonly LocalAccount[] = [2, 3, 4, 5, 6, 7].map((index) => anvilAccount(index));

export type EventMaker = {
  readonly protocol: act.Protocol;
  /** One block; most have about thirty events, one in ten none that anybody hears of. */
  readonly block: () => Promise<void>;
  /** So many of the newest blocks are replaced; of their calls all, some or none are in the new ones. */
  readonly reorganise: () => Promise<void>;
  /** A block after the one-hour policies have ended. */
  readonly passAnHour: () => Promise<void>;
  /** A block of so many burns, each of which concerns everybody who asks for burns. */
  readonly burns: (count: number) => Promise<void>;
  readonly random: (below: number) => number;
};

/** An even random number below a bound, by the seed. */
function createRandom(seed: number): (below: number) => number {
  const draws = fc.sample(fc.noBias(fc.nat()), { seed, numRuns: DRAWS });
  let next = 0;
  return (below) => {
    next = (next + 1) % DRAWS;
    return (draws[next] ?? 0) % below;
  };
}

const bitcoin = catalogueTerms.filter(({ symbol }) => symbol === "BTC");

async function equip(protocol: act.Protocol, owner: LocalAccount): Promise<void> {
  const { coverRouter, marketplace, policyManager } = protocol.deployment.contracts;
  for (const account of [...players, owner]) {
    await act.mintUsdc(protocol, owner, account.address, 10_000_000n * USDC);
    for (const spender of [coverRouter, marketplace, policyManager])
      await act.approveUsdc(protocol, account, spender);
    await act.approveMarketplace(protocol, account);
  }
  await act.refreshFeeds(protocol, owner);
}

/** Prepares a chain that was started with `retired: false`, and takes over its mining. */
export async function openEventMaker(chain: TestChain, seed: number): Promise<EventMaker> {
  const { client, owner, deployment } = chain;
  const { contracts } = deployment;
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
    // In one request; without automine the pool puts them in the order of their nonces.
    await Promise.all(
      signed.map(({ bytes }) => protocol.client.sendRawTransaction({ serializedTransaction: bytes })),
    );
    await client.mine({ blocks: 1 });
    recent = [...recent, signed].slice(-DEEPEST);
  }

  const push = (price: bigint): Call => call(owner, contracts.btcUsdFeed, mockPriceFeedAbi, "push", price);

  /** What the newest blocks say can be done. */
  async function lately() {
    const head = await client.getBlockNumber();
    const address = [contracts.coverRouter, contracts.bondVault, contracts.marketplace];
    const logs = await client.getLogs({ address, fromBlock: head > MEMORY ? head - MEMORY : 0n });
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

  /** Calls that may revert: what they are about may be closed, or gone with a reorganisation. */
  async function ordinary(): Promise<Call[]> {
    const { policies, bonds, listings } = await lately();
    return [
      push(PRICE),
      ...Array.from({ length: 24 }, purchase),
      ...some(bonds, 6).map(({ to, epochId }) =>
        call(player(to), contracts.marketplace, bondMarketplaceAbi, "list", epochId, 1n, USDC),
      ),
      ...some(listings, 4).map(({ listingId }) => onListing(player(), "executeBuy", listingId)),
      ...some(listings, 2).map(({ listingId, seller }) => onListing(player(seller), "cancel", listingId)),
      ...some(policies, 1).map(({ productId, policyId }) =>
        call(owner, contracts.policyManager, policyManagerAbi, "cancelPolicy", productId, policyId),
      ),
      burn(),
    ];
  }
  const burn = (): Call =>
    call(owner, contracts.protocolToken, protocolTokenAbi, "burn", BigInt(1 + random(1_000_000)));

  async function triggers(): Promise<void> {
    const { policies } = await lately();
    await mine([push(FALLEN), push(FALLEN), push(FALLEN)]);
    const { roundId } = await act.latestRound(protocol, "BTC");
    const proof = act.oracleProof([roundId - 2n, roundId - 1n, roundId]);
    const covered = policies.filter((policy) =>
      bitcoin.some((terms) => terms.productId === policy.productId),
    );
    const submitted = some(covered, 12).map(({ productId, policyId }) =>
      call(player(), contracts.coverRouter, coverRouterAbi, "submitTrigger", productId, policyId, proof),
    );
    await mine([...submitted, push(PRICE)]);
  }

  await equip(protocol, owner);
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
      else await mine(await ordinary());
    },
    burns: (count) => mine(Array.from({ length: count }, burn)),
    async reorganise() {
      const depth = 1 + random(Math.min(DEEPEST, recent.length));
      const dropped = recent.slice(-depth);
      const manner = random(3);
      // A sender's calls come back up to some point, one block later than they were: nonces leave no other choice.
      const kept = new Map<string, number>();
      const back = dropped.flatMap((calls, index) =>
        calls.flatMap(({ from, bytes }) => {
          const left = kept.get(from) ?? (manner === 0 ? 0 : manner === 1 ? 1_000 : random(20));
          kept.set(from, left - 1);
          return left > 0 ? [[bytes, Math.min(index + 1, depth - 1)] as const] : [];
        }),
      );
      await client.request<{
        Method: "anvil_reorg";
        Parameters: [number, readonly (readonly [Hex, number])[]];
        ReturnType: null;
      }>({ method: "anvil_reorg", params: [depth, back] });
      recent = [];
    },
    async passAnHour() {
      await act.nextBlockAt(protocol, (await act.chainTime(protocol)) + 3_600n + 1n);
      await client.mine({ blocks: 1 });
      await mine([push(PRICE), ...[contracts.ethUsdFeed, contracts.tokenUsdFeed].map(refreshed)]);
      recent = [];
    },
  };

  function refreshed(feed: Hex): Call {
    return call(owner, feed, mockPriceFeedAbi, "refresh");
  }
}

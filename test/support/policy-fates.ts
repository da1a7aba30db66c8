/** A chain on which policies have every fate that the keeper's audit tells apart, one policy each. */
import { type Address, encodeFunctionData, erc20Abi } from "viem";
import { mockAggregatorAbi } from "../../abis/MockAggregator.ts";
import { shieldKeeperAbi } from "../../abis/ShieldKeeper.ts";
import { upkeepCalldata } from "../../lib/chain/trigger.ts";
import { openProtocol } from "../../scripts/local/protocol/actions/index.ts";
import { type ProductTerms, termsOf } from "../../scripts/local/protocol/terms.ts";
import type { TestChain } from "./chain.ts";
import * as act from "./protocol-actions.ts";

const COVERAGE = 1_000_000_000n;
const HOUR = 3_600n;
const DWELL = 300n;
const HIGH = 60_000_00000000n;
/** Below the barrier of an hour's cover, above that of a day's. */
const LOW = 58_000_00000000n;
/** The product of all policies but `open`. */
export const hour: ProductTerms = termsOf("FLASHBTC1H-001");

export type PolicyFates = {
  /** The ids of the policies, by their fates. */
  readonly ids: ReadonlyMap<string, bigint>;
  /** The first and the last block of the third observation of those that were missed, `down` among them. */
  readonly payable: ReadonlyMap<string, { readonly first: bigint; readonly last: bigint }>;
  /** The time of the first of these blocks of `down`, Unix seconds. */
  readonly downtime: { readonly from: bigint; readonly to: bigint };
  /** The wallet that reset the observations of `reset`. */
  readonly resetBy: Address;
  readonly lastBlock: bigint;
};

/** Evaluates policies by the keeper contract, as anybody may. */
export const upkeep = (chain: TestChain, policyIds: readonly bigint[], product = hour) =>
  act.send(
    openProtocol(chain.deployment, chain.url),
    chain.relayer,
    keeperOf(chain),
    upkeepCalldata(product.productId, policyIds),
  );

function keeperOf({ deployment }: TestChain): Address {
  const { shieldKeeper } = deployment.contracts;
  if (shieldKeeper === undefined) throw new Error("the deployment has no keeper contract");
  return shieldKeeper;
}

/** Lets one policy after the other have its fate. The chain was deployed with `retired: false`. */
export async function livePolicies(chain: TestChain): Promise<PolicyFates> {
  const protocol = openProtocol(chain.deployment, chain.url);
  const { owner } = chain;
  const ids = new Map<string, bigint>();
  const payable = new Map<string, { first: bigint; last: bigint }>();
  let downtime = { from: 0n, to: 0n };
  const now = () => act.chainTime(protocol);
  const newest = () => chain.client.getBlockNumber();
  const push = (price: bigint) => act.pushPrice(protocol, owner, "BTC", price);

  /** Fresh prices and a sequencer that has been up for long, so that policies can be bought; then a purchase, and the dwell. */
  async function buy(
    fate: string,
    product = hour,
    purchase = (terms: ProductTerms) => act.purchase(protocol, owner, terms, COVERAGE),
  ): Promise<{ policyId: bigint; endsAt: bigint }> {
    await act.setSequencer(protocol, owner, { down: false, startedAt: (await now()) - 2n * HOUR });
    await act.refreshFeeds(protocol, owner);
    await push(HIGH);
    const { policyId } = await purchase(product);
    ids.set(fate, policyId);
    const endsAt = (await now()) + BigInt(product.durationSeconds);
    await act.timeTravel(protocol, DWELL);
    return { policyId, endsAt };
  }

  /** Low rounds a minute apart, each with a block in which it can be observed. */
  async function fall(rounds = 3): Promise<void> {
    for (let i = 0; i < rounds; i++) {
      await act.nextBlockAt(protocol, (await now()) + 61n);
      await push(LOW);
      await act.timeTravel(protocol, 1n);
    }
  }

  /** Mines the window's last second, and the first one after it. @returns the block of the last second */
  async function endWindow(endsAt: bigint): Promise<bigint> {
    await act.mineAt(protocol, endsAt);
    const last = await newest();
    await act.mineAt(protocol, endsAt + 1n);
    return last;
  }

  async function miss(fate: string): Promise<void> {
    const { endsAt } = await buy(fate);
    await fall();
    const first = await newest();
    payable.set(fate, { first, last: await endWindow(endsAt) });
  }

  /** Like a missed one, while the payout would fail. */
  async function missWhile(fate: string, change: (isOn: boolean) => Promise<unknown>): Promise<void> {
    const { endsAt } = await buy(fate);
    await change(true);
    await fall();
    await endWindow(endsAt);
    await change(false);
  }

  function pauseKeeper(isPaused: boolean) {
    const data = encodeFunctionData({ abi: shieldKeeperAbi, functionName: "setPaused", args: [isPaused] });
    return act.send(protocol, owner, keeperOf(chain), data);
  }

  const fates: Readonly<Record<string, () => Promise<void>>> = {
    async triggered() {
      const { policyId, endsAt } = await buy("triggered");
      for (let i = 0; i < 3; i++) {
        await fall(1);
        await upkeep(chain, [policyId]);
      }
      await endWindow(endsAt);
    },
    missed: () => miss("missed"),
    async marked() {
      await miss("marked");
      await act.markExpired(protocol, owner, hour, ids.get("marked") ?? 0n);
    },
    /** The price falls in a phase that has not begun: the feed answers its newest round from the first block of the phase. */
    async phased() {
      const { endsAt } = await buy("phased");
      const aggregator = await act.proposeAggregator(protocol, owner, "BTC");
      const args = [LOW, await now()] as const;
      const data = encodeFunctionData({ abi: mockAggregatorAbi, functionName: "push", args });
      await act.send(protocol, owner, aggregator, data);
      await act.confirmAggregator(protocol, owner, "BTC");
      await act.timeTravel(protocol, 1n);
      await fall(2);
      const first = await newest();
      payable.set("phased", { first, last: await endWindow(endsAt) });
    },
    async receiver() {
      // A contract that takes no bonds.
      const { coverRouter, policyManager: buyer, usdc } = chain.deployment.contracts;
      const { client } = chain;
      await client.setBalance({ address: buyer, value: 10n ** 18n });
      await client.impersonateAccount({ address: buyer });
      await act.mintUsdc(protocol, owner, buyer, COVERAGE);
      const approve = { abi: erc20Abi, functionName: "approve", args: [coverRouter, COVERAGE] } as const;
      await client.writeContract({ ...approve, address: usdc, account: buyer, chain: client.chain });
      const { endsAt } = await buy("receiver", hour, (terms) =>
        act.purchaseFor(protocol, chain.relayer, terms, COVERAGE, buyer),
      );
      await fall();
      await endWindow(endsAt);
    },
    price_oracle: () => missWhile("price_oracle", (isOn) => act.setPriceStale(protocol, owner, isOn)),
    capacity: () =>
      missWhile("capacity", (isOn) => act.setTokenPrice(protocol, owner, isOn ? "0.000000001" : "1")),
    no_way: () => missWhile("no_way", pauseKeeper),
    async down() {
      await miss("down");
      const { first } = payable.get("down") ?? { first: 0n };
      const { timestamp } = await chain.client.getBlock({ blockNumber: first });
      downtime = { from: timestamp, to: timestamp };
    },
    async sequencer_down() {
      const { endsAt } = await buy("sequencer_down");
      await act.setSequencer(protocol, owner, { down: true, startedAt: await now() });
      await fall();
      await act.setSequencer(protocol, owner, { down: false, startedAt: await now() });
      await endWindow(endsAt);
    },
    /** A pause stops purchases only. */
    async paused() {
      const { endsAt } = await buy("paused");
      await act.setGlobalPause(protocol, owner, true);
      await fall();
      const first = await newest();
      payable.set("paused", { first, last: await endWindow(endsAt) });
      await act.setGlobalPause(protocol, owner, false);
    },
    async not_met() {
      const { endsAt } = await buy("not_met");
      await fall(2);
      await endWindow(endsAt);
    },
    /** It fell three times, with a price in between that somebody has observed. */
    async reset() {
      const { policyId, endsAt } = await buy("reset");
      await fall(2);
      await push(HIGH);
      await upkeep(chain, [policyId]);
      await fall(1);
      const first = await newest();
      payable.set("reset", { first, last: await endWindow(endsAt) });
    },
    async open() {
      await buy("open", termsOf("FLASHBTC24-001"));
    },
    async due() {
      const { policyId } = await buy("due");
      await fall(1);
      await upkeep(chain, [policyId]);
      await fall(1);
    },
  };

  await act.mintUsdc(protocol, owner, owner.address, 10_000_000_000_000n);
  await act.approveUsdc(protocol, owner, chain.deployment.contracts.coverRouter);
  for (const happen of Object.values(fates)) await happen();
  return { ids, payable, downtime, resetBy: chain.relayer.address, lastBlock: await newest() };
}

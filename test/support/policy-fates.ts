/** A chain on which policies have every fate that the keeper's audit tells apart, one policy each. */
import { encodeFunctionData, erc20Abi } from "viem";
import { mockAggregatorAbi } from "../../abis/MockAggregator.ts";
import { openProtocol } from "../../scripts/local/protocol/actions/index.ts";
import { type ProductTerms, termsOf } from "../../scripts/local/protocol/terms.ts";
import type { TestChain } from "./chain.ts";
import * as act from "./protocol-actions.ts";

const COVERAGE = 1_000_000_000n;
const HOUR = 3_600n;
const HIGH = 60_000_00000000n;
/** Below the trigger price of an hour's cover, above that of a day's. */
const LOW = 58_000_00000000n;
/** The product of all policies but `open`. */
export const hour: ProductTerms = termsOf("FLASHBTC1H-001");

export type PolicyFates = {
  /** The ids of the policies, by their fates. */
  readonly ids: ReadonlyMap<string, bigint>;
  /** The first and the last payable block of those that were missed, `down` among them. */
  readonly payable: ReadonlyMap<string, { readonly first: bigint; readonly last: bigint }>;
  /** The times of the payable blocks of `down`, Unix seconds. */
  readonly downtime: { readonly from: bigint; readonly to: bigint };
  readonly lastBlock: bigint;
};

/** Lets one policy after the other have its fate. The chain was deployed with `retired: false`. */
export async function livePolicies(chain: TestChain): Promise<PolicyFates> {
  const protocol = openProtocol(chain.deployment, chain.url);
  const ids = new Map<string, bigint>();
  const payable = new Map<string, { first: bigint; last: bigint }>();
  let downtime = { from: 0n, to: 0n };
  const now = () => act.chainTime(protocol);
  const newest = () => chain.client.getBlockNumber();
  const push = (price: bigint) => act.pushPrice(protocol, chain.owner, "BTC", price);

  /** Fresh prices and a sequencer that has been up for long, so that policies can be bought; then a purchase. */
  async function buy(
    fate: string,
    product = hour,
    purchase = (terms: ProductTerms) => act.purchase(protocol, chain.owner, terms, COVERAGE),
  ): Promise<{ policyId: bigint; endsAt: bigint }> {
    await act.setSequencer(protocol, chain.owner, { down: false, startedAt: (await now()) - 2n * HOUR });
    await act.refreshFeeds(protocol, chain.owner);
    await push(HIGH);
    // A round counts from the second of the purchase on, also one from before it: those of the policy before must be older.
    await act.timeTravel(protocol, 10n);
    const { policyId } = await purchase(product);
    ids.set(fate, policyId);
    return { policyId, endsAt: (await now()) + BigInt(product.durationSeconds) };
  }

  async function fall(rounds = 3): Promise<void> {
    for (let i = 0; i < rounds; i++) await push(LOW);
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
    const first = (await newest()) + 1n;
    await push(HIGH);
    const last = await endWindow(endsAt);
    payable.set(fate, { first, last });
  }

  const fates: Readonly<Record<string, () => Promise<void>>> = {
    async triggered() {
      const { policyId, endsAt } = await buy("triggered");
      await act.trigger(protocol, chain.owner, hour, policyId);
      await endWindow(endsAt);
    },
    missed: () => miss("missed"),
    async marked() {
      await miss("marked");
      await act.markExpired(protocol, chain.owner, hour, ids.get("marked") ?? 0n);
    },
    /** The price falls in a phase that has not begun: its rounds count once the feed answers from it. */
    async phased() {
      const { endsAt } = await buy("phased");
      const aggregator = await act.proposeAggregator(protocol, chain.owner, "BTC");
      for (let i = 0; i < 3; i++) {
        const args = [LOW, await now()] as const;
        const data = encodeFunctionData({ abi: mockAggregatorAbi, functionName: "push", args });
        await act.send(protocol, chain.owner, aggregator, data);
      }
      await act.confirmAggregator(protocol, chain.owner, "BTC");
      const first = (await newest()) + 1n;
      await push(HIGH);
      payable.set("phased", { first, last: await endWindow(endsAt) });
    },
    async refused() {
      // A contract that takes no bonds.
      const { coverRouter, policyManager: buyer, usdc } = chain.deployment.contracts;
      const { client } = chain;
      await client.setBalance({ address: buyer, value: 10n ** 18n });
      await client.impersonateAccount({ address: buyer });
      await act.mintUsdc(protocol, chain.owner, buyer, COVERAGE);
      const approve = { abi: erc20Abi, functionName: "approve", args: [coverRouter, COVERAGE] } as const;
      await client.writeContract({ ...approve, address: usdc, account: buyer, chain: client.chain });
      const { endsAt } = await buy("refused", hour, (terms) =>
        act.purchaseFor(protocol, chain.relayer, terms, COVERAGE, buyer),
      );
      await fall();
      await endWindow(endsAt);
    },
    async down() {
      await miss("down");
      const { first, last } = payable.get("down") ?? { first: 0n, last: 0n };
      const time = async (blockNumber: bigint) => (await chain.client.getBlock({ blockNumber })).timestamp;
      downtime = { from: await time(first), to: await time(last) };
    },
    async sequencer_down() {
      const { endsAt } = await buy("sequencer_down");
      await act.setSequencer(protocol, chain.owner, { down: true, startedAt: await now() });
      await fall();
      await act.setSequencer(protocol, chain.owner, { down: false, startedAt: await now() });
      await endWindow(endsAt);
    },
    /** A pause stops purchases only. */
    async paused() {
      const { endsAt } = await buy("paused");
      await act.setGlobalPause(protocol, chain.owner, true);
      await fall();
      const first = (await newest()) + 1n;
      payable.set("paused", { first, last: await endWindow(endsAt) });
      await act.setGlobalPause(protocol, chain.owner, false);
    },
    async last_block() {
      const { endsAt } = await buy("last_block");
      await fall(2);
      await act.nextBlockAt(protocol, endsAt);
      await fall(1);
      await act.mineAt(protocol, endsAt + 1n);
    },
    async not_met() {
      const { endsAt } = await buy("not_met");
      await fall(2);
      await endWindow(endsAt);
    },
    async open() {
      await buy("open", termsOf("FLASHBTC24-001"));
    },
    async due() {
      await buy("due");
      await fall();
    },
  };

  await act.mintUsdc(protocol, chain.owner, chain.owner.address, 10_000_000_000_000n);
  await act.approveUsdc(protocol, chain.owner, chain.deployment.contracts.coverRouter);
  for (const happen of Object.values(fates)) await happen();
  return { ids, payable, downtime, lastBlock: await newest() };
}

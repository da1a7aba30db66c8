/** Counts a policy as missed if it could be paid in any of its blocks, and claims nothing where not all of them were asked. */
import { encodeFunctionData } from "viem";
import { beforeAll, expect, test } from "vitest";
import { shieldKeeperAbi } from "../../abis/ShieldKeeper.ts";
import { termsOf } from "../../scripts/local/protocol/terms.ts";
import { askPayout, blocksBetween } from "../../workers/keeper/audit/ask-payout.ts";
import { audit } from "../../workers/keeper/audit/audit.ts";
import {
  type CoverChain,
  createBlockClock,
  openCoverChain,
} from "../../workers/keeper/from-chain/cover-chain.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import * as act from "../support/protocol-actions.ts";

const HOUR = 3_600n;
const LOW = 58_000_00000000n;

let chain: TestChain;
let protocol: act.Protocol;
let cover: CoverChain;
beforeAll(async () => {
  chain = await startChain({ retired: false, timestamp: 1_900_000_000n });
  protocol = act.openProtocol(chain.deployment, chain.url);
  cover = openCoverChain(chain.deployment, chain.url);
  await act.mintUsdc(protocol, chain.owner, chain.owner.address, 10_000_000_000n);
  await act.approveUsdc(protocol, chain.owner, chain.deployment.contracts.coverRouter);
});

function pauseKeeper(isPaused: boolean) {
  const { shieldKeeper } = chain.deployment.contracts;
  if (!shieldKeeper) throw new Error("the deployment has no keeper contract");
  const data = encodeFunctionData({ abi: shieldKeeperAbi, functionName: "setPaused", args: [isPaused] });
  return act.send(protocol, chain.owner, shieldKeeper, data);
}

/** A policy could be observed three times; meanwhile the keeper contract is paused, but for `open` blocks. Returns the first payable block. */
async function missWhilePaused(open: number): Promise<bigint> {
  const { owner, client } = chain;
  await act.setSequencer(protocol, owner, {
    down: false,
    startedAt: (await act.chainTime(protocol)) - 2n * HOUR,
  });
  await act.refreshFeeds(protocol, owner);
  await act.pushPrice(protocol, owner, "BTC", 60_000_00000000n);
  await act.purchase(protocol, owner, termsOf("FLASHBTC1H-001"), 1_000_000_000n);
  const endsAt = (await act.chainTime(protocol)) + HOUR;
  await act.timeTravel(protocol, 300n);
  await pauseKeeper(true);
  for (let i = 0; i < 3; i++) {
    await act.nextBlockAt(protocol, (await act.chainTime(protocol)) + 61n);
    await act.pushPrice(protocol, owner, "BTC", LOW);
    await act.timeTravel(protocol, 1n);
  }
  const first = await client.getBlockNumber();
  await client.mine({ blocks: 3, interval: 2 });
  if (open > 0) {
    await pauseKeeper(false);
    await client.mine({ blocks: open, interval: 2 });
    await pauseKeeper(true);
  }
  await client.mine({ blocks: 3, interval: 2 });
  await act.mineAt(protocol, endsAt);
  await act.mineAt(protocol, endsAt + 1n);
  await pauseKeeper(false);
  return first;
}

test("a payout that would have succeeded only between the first and the last block: missed", async () => {
  const first = await missWhilePaused(2);
  const { missed, neverPayable } = await audit(cover, { fromBlock: 0n, toBlock: undefined });
  expect(neverPayable).toEqual([]);
  // Three blocks later the pause ends, and a call finds it so in the next block.
  expect(missed.map(({ payout }) => payout)).toEqual([{ is: "confirmed", block: first + 5n }]);
});

test("a payout that failed in all blocks is not payable; undecided, where some were not asked", async () => {
  const fromBlock = await chain.client.getBlockNumber();
  const first = await missWhilePaused(0);
  const { missed, refused, neverPayable } = await audit(cover, { fromBlock, toBlock: undefined });
  expect([missed, refused]).toEqual([[], []]);
  const [one] = neverPayable;
  expect(one?.reason).toBe("no_way");
  if (!one) return;
  const last = first + 7n;
  const payable = { first, last, ranges: [{ from: first, to: last }] };
  const ask = (most: number) =>
    askPayout(cover, one.policy, createBlockClock(cover.clients.reads), payable, most);
  expect(await ask(6)).toEqual({ is: "unpayable", block: first, reason: "no_way" });
  expect(await ask(5)).toEqual({ is: "undecided", block: first, reason: "no_way" });
});

test("the blocks that are asked are all between the ends, or as many as allowed, spread evenly", () => {
  const ranges = [
    { from: 10n, to: 12n },
    { from: 20n, to: 29n },
  ];
  const payable = { first: 10n, last: 29n, ranges };
  expect(blocksBetween(payable, 11)).toEqual({
    blocks: [11n, 12n, 20n, 21n, 22n, 23n, 24n, 25n, 26n, 27n, 28n],
    areAll: true,
  });
  expect(blocksBetween(payable, 4)).toEqual({ blocks: [11n, 20n, 23n, 26n], areAll: false });
  expect(blocksBetween({ first: 7n, last: 7n, ranges: [{ from: 7n, to: 7n }] }, 4)).toEqual({
    blocks: [],
    areAll: true,
  });
});

/**
 * Proves on a real chain that the audit's payable blocks are those in which the contracts would have paid a trigger, by trying one
 * in every block. Prices and purchases are random; `DUE_SEED` repeats those of an earlier run.
 */
import { beforeAll, expect, test } from "vitest";
import { audit } from "../../workers/keeper/audit/audit.ts";
import { readHistory } from "../../workers/keeper/audit/read-history.ts";
import { createBlockClock } from "../../workers/keeper/from-chain/block-clock.ts";
import { type CoverChain, openCoverChain } from "../../workers/keeper/from-chain/cover-chain.ts";
import { dueFromChain } from "../../workers/keeper/from-chain/due.ts";
import type { CoveredPolicy } from "../../workers/keeper/from-chain/history.ts";
import { openHistoryByForce } from "../src/support/due-by-force.ts";
import { type PriceWalk, startPriceWalk } from "../src/support/price-walk.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import * as act from "../support/protocol-actions.ts";
import { drawSeed } from "../support/seed.ts";
import { payableBlocks } from "./support/keeper-history.ts";

const seed = drawSeed("DUE_SEED");
const BLOCKS = 40;
const REORGANISE_EVERY = 10;

let chain: TestChain;
let walk: PriceWalk;
let cover: CoverChain;

beforeAll(async () => {
  chain = await startChain({ retired: false, timestamp: 1_900_000_000n });
  walk = await startPriceWalk(chain, seed);
  cover = openCoverChain(chain.deployment, chain.url);
});

const nameOf = ({ productId, policyId }: Pick<CoveredPolicy, "productId" | "policyId">) =>
  `${productId} ${policyId}`;

test(`random prices: payable in a block if and only if the contracts would pay in it (DUE_SEED=${seed})`, async () => {
  const { client } = chain;
  const firstBlock = await client.getBlockNumber();
  // A walk goes on until some policy is due: a few never come that far in these blocks.
  let sawDue = false;
  for (let block = 1; block <= BLOCKS || !sawDue; block++) {
    const { policies: due } = await dueFromChain(cover);
    sawDue ||= due.length > 0;
    await walk.step(due);
    if (block % REORGANISE_EVERY === 0) await walk.reorganise(1 + walk.random(6));
  }
  // After the longest window every policy has a verdict.
  const end = (await client.getBlock()).timestamp + 73n * 3_600n;
  await act.mineAt(walk.protocol, end);
  const lastBlock = await client.getBlockNumber();

  const clock = createBlockClock(cover.clients.reads);
  const { history, policies } = await readHistory(cover, { from: 0n, to: lastBlock }, clock);
  const payable = new Map<bigint, string[]>();
  for (const policy of policies)
    for (const [first, last] of await payableBlocks(policy, history, clock))
      for (let block = BigInt(first); block <= last; block++)
        payable.set(block, [...(payable.get(block) ?? []), nameOf(policy)]);
  // Of the triggered ones only that is known.
  const judged = new Set(policies.map(nameOf));
  const dueIn = await openHistoryByForce(chain);
  for (let block = firstBlock + 1n; block <= lastBlock; block++) {
    const due = (await dueIn(block)).filter((name) => judged.has(name));
    expect((payable.get(block) ?? []).sort(), `block ${block}`).toEqual(due);
  }
  const { missed, refused, open } = await audit(cover, { fromBlock: 0n, toBlock: lastBlock });
  expect({ refused, open }).toEqual({ refused: [], open: 0 });
  expect(missed.map(({ policy }) => nameOf(policy)).sort()).toEqual(
    [...new Set([...payable.values()].flat())].sort(),
  );
  expect(missed.every(({ confirmation }) => confirmation.is === "confirmed")).toBe(true);
});

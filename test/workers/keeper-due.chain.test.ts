/**
 * Proves on a real chain that the policies which the chain's logs make due are those of which the shields themselves would take an
 * observation in the next block. Prices, calls and purchases are random; `DUE_SEED` repeats those of an earlier run.
 */
import fc from "fast-check";
import { type Hex, hexToString } from "viem";
import { beforeAll, expect, test } from "vitest";
import { flashShieldAbi } from "../../abis/FlashShield.ts";
import { shieldAdapterAbi } from "../../abis/ShieldAdapter.ts";
import { findRevert } from "../../lib/chain/reverts.ts";
import { openProtocol } from "../../scripts/local/protocol/actions/index.ts";
import { type CoverChain, openCoverChain } from "../../workers/keeper/from-chain/cover-chain.ts";
import { dueFromChain } from "../../workers/keeper/from-chain/due.ts";
import { allPolicies, type PolicyKey } from "../src/support/due-by-force.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { hour, upkeep } from "../support/policy-fates.ts";
import * as act from "../support/protocol-actions.ts";
import { drawSeed } from "../support/seed.ts";

const seed = drawSeed("DUE_SEED");
const STEPS = 100;
/** What shields answer of open policies while feed and sequencer can be read. */
const answers = [
  "ACCRUING",
  "TRIGGER_DROP",
  "RESET",
  "DWELL_NOT_ELAPSED",
  "STALE_ROUND_OBSERVATION",
  "CONFIRMATION_TOO_SOON",
];
const HIGH = 60_000_00000000n;
/** The barrier of an hour's cover that was bought at the price above. */
const BARRIER = 58_500_00000000n;

let chain: TestChain;
let protocol: act.Protocol;
let cover: CoverChain;

beforeAll(async () => {
  chain = await startChain({ retired: false, timestamp: 1_900_000_000n });
  protocol = openProtocol(chain.deployment, chain.url);
  cover = openCoverChain(chain.deployment, chain.url);
  await act.mintUsdc(protocol, chain.owner, chain.owner.address, 1_000_000_000_000n);
  await act.approveUsdc(protocol, chain.owner, chain.deployment.contracts.coverRouter);
});

const nameOf = ({ productId, policyId }: PolicyKey) => `${productId} ${policyId}`;

/** What a policy's shield would answer in the next block, at the newest block's time. */
async function evaluated(adapter: Hex, policyId: bigint): Promise<string> {
  const { client } = chain;
  const { number, timestamp } = await client.getBlock();
  const shield = await client.readContract({
    abi: shieldAdapterAbi,
    address: adapter,
    functionName: "shield",
  });
  const blockOverrides = { number: number + 1n, time: timestamp };
  const evaluate = { abi: flashShieldAbi, address: shield, functionName: "evaluate" } as const;
  try {
    const { result } = await client.simulateContract({
      ...{ ...evaluate, args: [policyId], account: adapter, blockOverrides },
    });
    return hexToString(result[2], { size: 32 });
  } catch (error) {
    const revert = findRevert(error);
    if (revert) return revert.name;
    throw error;
  }
}

test(`at each block the due policies are those that their shields would observe (DUE_SEED=${seed})`, async () => {
  const draws = fc.sample(fc.noBias(fc.nat()), { seed, numRuns: 2_000 });
  let next = 0;
  const random = (below: number) => (draws[next++ % draws.length] ?? 0) % below;
  const now = () => act.chainTime(protocol);
  const push = (price: bigint, updatedAt?: bigint) =>
    act.pushPrice(protocol, chain.owner, "BTC", price, updatedAt);
  const setSequencer = async (down: boolean, ago: bigint) =>
    act.setSequencer(protocol, chain.owner, { down, startedAt: (await now()) - ago });
  const buy = async () => {
    await setSequencer(false, 7_200n);
    await push(HIGH);
    await act.purchase(protocol, chain.owner, hour, 1_000_000_000n);
  };

  const seen = new Set<string>();
  await buy();
  // A few walks have not had every answer by then.
  for (
    let step = 0;
    step < STEPS || (step < 4 * STEPS && answers.some((answer) => !seen.has(answer)));
    step++
  ) {
    await act.nextBlockAt(protocol, (await now()) + BigInt(1 + random(random(6) === 0 ? 300 : 50)));
    const { policies: due } = await dueFromChain(cover);
    const choice = random(40);
    if (choice < 18) await push(BARRIER - BigInt(random(3)));
    else if (choice < 19) await push(BARRIER + 1n);
    else if (choice < 21) await push(BARRIER, (await now()) - BigInt(random(3_700)));
    else if (choice < 22) await setSequencer(random(4) === 0, BigInt(3_595 + random(20)));
    else if (choice < 24) await buy();
    else if (choice < 38) await upkeep(chain, due.map(({ policyId }) => policyId).slice(0, 10));
    // Those that are not due may be reset, or expire.
    else if (choice < 39)
      await upkeep(
        chain,
        [1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n].map((id) => id + BigInt(random(8))),
      );
    else await setSequencer(false, 7_200n);
    if (step === STEPS / 2) {
      await act.replaceAdapter(protocol, chain.owner, hour);
      await buy();
    }

    const expected: string[] = [];
    for (const { shield, ...key } of new Map(
      (await allPolicies(chain)).map((one) => [nameOf(one), one]),
    ).values()) {
      const answer = await evaluated(shield, key.policyId);
      seen.add(answer);
      if (answer === "ACCRUING" || answer === "TRIGGER_DROP") expected.push(nameOf(key));
    }
    const found = await dueFromChain(cover);
    expect(found.policies.map(nameOf).sort(), `step ${step}`).toEqual(expected.sort());
    const observations = found.policies.map(({ observation }) => observation);
    expect(observations).toEqual([...observations].sort((a, b) => Number(b === 3) - Number(a === 3)));
  }
  expect([...seen]).toEqual(expect.arrayContaining([...answers]));
});

/** Plays rounds of purchases in which a process is killed, and holds what clients were told to the chain. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { buyPatiently } from "../fault/support/client.ts";
import {
  type Bought,
  expectNoFalseFailures,
  expectNoGaps,
  expectOnePolicyPerKey,
} from "../fault/support/truth.ts";
import { startWorld, type World } from "../fault/support/world.ts";
import { BUYERS, planRounds, type Round } from "./plan.ts";
import { arm } from "./steps.ts";

export type SoakOptions = {
  readonly seed: number;
  readonly rounds: number;
  /** So many chains with a service each play at once, the rounds dealt out among them. */
  readonly worlds?: number;
  /** Told of every round that went well. */
  readonly onRound?: (round: Round, bought: readonly Bought[], ms: number) => void;
};

export type SoakResult = { readonly keys: number; readonly calls: number; readonly retries: number };

const inWords = ({ number, victim, step, againMs, purchases }: Round) =>
  `round ${number}: the ${victim} was killed at "${step}"${againMs === undefined ? "" : " and once more"}, with ${purchases.length} purchases`;

async function playRound(world: World, round: Round): Promise<Bought[]> {
  const { chain, stack, buyers } = world;
  const fromBlock = (await chain.client.getBlockNumber()) + 1n;
  const armed = await arm(world, round, () => stack.kill9(round.victim));
  const calls = Promise.all(
    round.purchases.map(async (planned): Promise<Bought> => {
      const buyer = buyers[planned.buyer];
      if (!buyer) throw new Error(`there is no buyer ${planned.buyer}`);
      const call = () => buyer.buy({ productName: planned.productName }, { "idempotency-key": planned.key });
      const told = await Promise.all(Array.from({ length: planned.callers }, () => buyPatiently(call)));
      return { planned, told };
    }),
  );
  // Awaited below; one that is refused ends the wait for the step too.
  await Promise.race([armed.struck, calls.then(() => armed.struck)]);
  armed.disarm();
  await sleep(round.deadMs);
  await stack.start(round.victim);
  if (round.againMs !== undefined) {
    await sleep(round.againMs);
    await stack.kill9(round.victim);
    await stack.start(round.victim);
  }
  const bought = await calls;
  await expectOnePolicyPerKey(world, bought, fromBlock);
  await expectNoGaps(world);
  await expectNoFalseFailures(world);
  return bought;
}

/** At the end everything has become final, and the chain has as many policies as keys were used. */
async function expectEnd({ chain, connection }: World, keys: number): Promise<void> {
  await waitFor({
    what: "every purchase to be confirmed",
    probe: async () => {
      const rows = await connection.sql`
        select 1 from service.purchase where state in ('accepted', 'signed', 'broadcast', 'mined') limit 1`;
      return rows.length === 0 ? true : undefined;
    },
    timeoutMs: 60_000,
  });
  const [row] = await connection.sql<{ confirmed: number }[]>`
    select count(*)::int as confirmed from service.purchase where state = 'confirmed'`;
  const policies = await chain.client.getContractEvents({
    address: chain.deployment.contracts.coverRouter,
    abi: coverRouterAbi,
    eventName: "PolicyPurchased",
    fromBlock: 0n,
  });
  expect({ policies: policies.length, confirmed: row?.confirmed }).toEqual({
    policies: keys,
    confirmed: keys,
  });
}

/** @throws the first fault, with the round in which it showed. */
export async function runSoak({ seed, rounds, worlds = 1, onRound }: SoakOptions): Promise<SoakResult> {
  const planned = planRounds(seed, rounds);
  const total = { keys: 0, calls: 0, retries: 0 };
  async function play(mine: readonly Round[]): Promise<void> {
    const world = await startWorld({ buyers: BUYERS });
    let keys = 0;
    for (const round of mine) {
      const begun = performance.now();
      const bought = await playRound(world, round).catch((cause: unknown) => {
        throw new Error(`${inWords(round)} (SOAK_SEED=${seed}): ${String(cause)}`, { cause });
      });
      const told = bought.flatMap((one) => one.told);
      keys += bought.length;
      total.calls += told.length;
      total.retries += told.reduce((sum, one) => sum + one.retries, 0);
      onRound?.(round, bought, performance.now() - begun);
    }
    await expectEnd(world, keys);
    total.keys += keys;
  }
  await Promise.all(
    Array.from({ length: worlds }, (_, world) =>
      play(planned.filter((_, index) => index % worlds === world)),
    ),
  );
  return total;
}

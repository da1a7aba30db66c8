/** Runs rounds of purchases in which a process is killed, and checks the clients' receipts against the chain. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import {
  type CompletedPurchase,
  expectNoFalseFailures,
  expectNoNonceGaps,
  expectOnePolicyPerKey,
} from "../fault/support/assertions.ts";
import { buyWithRetries } from "../fault/support/purchase-client.ts";
import { type PurchaseSetup, startPurchaseSetup } from "../fault/support/purchase-setup.ts";
import { prepareKill } from "./kill-at-step.ts";
import { BUYERS, planRounds, type Round } from "./plan-rounds.ts";

export type SoakOptions = {
  readonly seed: number;
  readonly rounds: number;
  /** Number of chains, each with its own service, that share the rounds and run in parallel. Default: 1. */
  readonly chains?: number;
  /** A dead writer's lease ends at once, not after eight seconds, and a second kill comes after a quarter of the time. */
  readonly quick?: boolean;
  /** Called after each round that passed. */
  readonly onRound?: (round: Round, purchases: readonly CompletedPurchase[], ms: number) => void;
};

export type SoakResult = { readonly keys: number; readonly calls: number; readonly retries: number };

const describeRound = ({ number, victim, step, secondKillMs, purchases }: Round) =>
  `round ${number}: the ${victim} was killed at "${step}"${secondKillMs === undefined ? "" : " and again after its restart"}, with ${purchases.length} purchases`;

async function runRound(setup: PurchaseSetup, round: Round, quick: boolean): Promise<CompletedPurchase[]> {
  const { chain, stack, buyers, connection } = setup;
  const startVictim = async () => {
    if (quick && round.victim === "writer")
      await connection.sql`update service.relayer_wallet set lease_until = now()`;
    await stack.start(round.victim);
  };
  const fromBlock = (await chain.client.getBlockNumber()) + 1n;
  const pendingKill = prepareKill(setup, round, () => stack.kill9(round.victim));
  const calls = Promise.all(
    round.purchases.map(async (planned): Promise<CompletedPurchase> => {
      const buyer = buyers[planned.buyer];
      if (!buyer) throw new Error(`there is no buyer ${planned.buyer}`);
      const call = () => buyer.buy({ productName: planned.productName }, { "idempotency-key": planned.key });
      const answers = await Promise.all(Array.from({ length: planned.callers }, () => buyWithRetries(call)));
      return { planned, answers };
    }),
  );
  // A rejected call must end this wait too.
  await Promise.race([pendingKill.killed, calls.then(() => pendingKill.killed)]);
  pendingKill.release();
  await sleep(round.deadMs);
  await startVictim();
  if (round.secondKillMs !== undefined) {
    await sleep(quick ? round.secondKillMs / 4 : round.secondKillMs);
    await stack.kill9(round.victim);
    await startVictim();
  }
  const purchases = await calls;
  await expectOnePolicyPerKey(setup, purchases, fromBlock);
  await expectNoNonceGaps(setup);
  await expectNoFalseFailures(setup);
  return purchases;
}

/** Waits until every purchase is confirmed; the chain then has one policy per key. */
async function expectAllConfirmed({ chain, connection }: PurchaseSetup, keys: number): Promise<void> {
  await waitFor({
    what: "every purchase to be confirmed",
    probe: async () => {
      const rows = await connection.sql`
        select 1 from service.purchase_progress where state in ('accepted', 'signed', 'broadcast', 'mined') limit 1`;
      return rows.length === 0 ? true : undefined;
    },
  });
  const [row] = await connection.sql<{ confirmed: number }[]>`
    select count(*)::int as confirmed from service.purchase_progress where state = 'confirmed'`;
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

/** @throws the first failed assertion, with its round. */
export async function runSoak({
  seed,
  rounds,
  chains = 1,
  quick = false,
  onRound,
}: SoakOptions): Promise<SoakResult> {
  const planned = planRounds(seed, rounds);
  const total = { keys: 0, calls: 0, retries: 0 };
  async function runOnOneChain(own: readonly Round[]): Promise<void> {
    const setup = await startPurchaseSetup({ buyers: BUYERS });
    let keys = 0;
    for (const round of own) {
      const begun = performance.now();
      const purchases = await runRound(setup, round, quick).catch((cause: unknown) => {
        throw new Error(`${describeRound(round)} (SOAK_SEED=${seed}): ${String(cause)}`, { cause });
      });
      const answers = purchases.flatMap((one) => one.answers);
      keys += purchases.length;
      total.calls += answers.length;
      total.retries += answers.reduce((sum, one) => sum + one.retries, 0);
      onRound?.(round, purchases, performance.now() - begun);
    }
    await expectAllConfirmed(setup, keys);
    total.keys += keys;
  }
  await Promise.all(
    Array.from({ length: chains }, (_, chain) =>
      runOnOneChain(planned.filter((_, index) => index % chains === chain)),
    ),
  );
  return total;
}

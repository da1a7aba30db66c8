/** What must hold whenever everything is at rest, whatever was killed before. */
import { expect } from "vitest";
import { z } from "zod";
import { coverRouterAbi } from "../../../abis/CoverRouter.ts";
import {
  type CompletedPurchase,
  expectNoFalseFailures,
  expectNoNonceGaps,
  expectOnePolicyPerKey,
} from "../../fault/support/assertions.ts";
import { expectAnswers } from "../../fault/support/index-reads.ts";
import { readFork } from "../../fault/support/index-truth.ts";
import { expectCorrectDeliveries, keepRetriesDue } from "../../fault/support/webhook-world.ts";
import { mineEverySecond, mineNothing } from "../../support/chain.ts";
import * as act from "../../support/protocol-actions.ts";
import { expectSigned } from "../../support/receiver.ts";
import { expectKeeperDone } from "./keeper-check.ts";
import type { ReadLog } from "./reads.ts";
import type { SoakWorld } from "./world.ts";

const protocolStats = z.object({
  policies_total: z.number(),
  policies_triggered: z.number(),
  coverage_total: z.string(),
  total_premium_collected: z.string(),
});

/** The api's totals are the sums of the chain's logs. The index has the newest block. */
async function expectTotals({ chain, stack }: SoakWorld, triggers: number): Promise<void> {
  const policies = await chain.client.getContractEvents({
    ...{ address: chain.deployment.contracts.coverRouter, abi: coverRouterAbi },
    ...{ eventName: "PolicyPurchased", fromBlock: 0n, strict: true },
  });
  const sum = (name: "coverage" | "premium") =>
    String(policies.reduce((total, { args }) => total + args[name], 0n));
  await expect
    .poll(async () => protocolStats.parse((await stack.request("/api/v1/stats/protocol")).json))
    .toEqual({
      policies_total: policies.length,
      policies_triggered: triggers,
      coverage_total: sum("coverage"),
      total_premium_collected: sum("premium"),
    });
}

/** Every request that has come since the last check is signed. @returns the number of requests so far, by subscription. */
function expectAllSigned({ subscriptions }: SoakWorld, checked: ReadonlyMap<number, number>) {
  return new Map(
    subscriptions.map(({ id, secret, requests }) => {
      for (const request of requests.slice(checked.get(id) ?? 0)) expectSigned(request, [secret]);
      return [id, requests.length];
    }),
  );
}

export type Checked = {
  /** Policies that were triggered, and the events of the subscriber with most. */
  readonly triggers: number;
  readonly events: number;
  /** Signed requests, by subscription. */
  readonly signed: ReadonlyMap<number, number>;
};

/** Waits until the service has done all of its work, and expects that it is right. Nothing else may run meanwhile. */
export async function checkAll(
  world: SoakWorld,
  {
    purchases,
    reads,
    signed,
  }: { purchases: readonly CompletedPurchase[]; reads: ReadLog; signed: Checked["signed"] },
): Promise<Checked> {
  const { chain, subscriptions } = world;
  const triggers = await expectKeeperDone(world);
  await expectNoNonceGaps(world);
  await mineNothing(chain);
  await expectOnePolicyPerKey(world, purchases);
  await expectNoFalseFailures(world);
  const stopRetries = keepRetriesDue(world);
  const { events } = await expectCorrectDeliveries(world, subscriptions).finally(stopRetries);
  const nowSigned = expectAllSigned(world, signed);
  const answers = reads.answers.splice(0);
  if (answers.length > 0) expectAnswers(answers, [await readFork(chain)]);
  await expectTotals(world, triggers);
  return { triggers, events, signed: nowSigned };
}

/** Lets an hour pass on the chain, so that the cover of an hour ends, and mines on. */
export async function passAnHour({ chain, protocol }: SoakWorld): Promise<void> {
  await act.timeTravel(protocol, 3_600n);
  await mineEverySecond(chain);
  await act.refreshFeeds(protocol, chain.owner);
}

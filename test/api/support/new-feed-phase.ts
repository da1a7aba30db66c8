/**
 * What this proves: rounds of a new aggregator count from the log with which the feed takes it, and change nothing that was before:
 * neither a verdict, nor a claim, nor a price.
 */
import { encodeFunctionData } from "viem";
import { expect, test } from "vitest";
import { z } from "zod";
import { mockAggregatorAbi } from "../../../abis/MockAggregator.ts";
import { mockPriceFeedAbi } from "../../../abis/MockPriceFeed.ts";
import { assetBytes32 } from "../../../lib/products.ts";
import { termsOf } from "../../../scripts/local/protocol/terms.ts";
import * as act from "../../support/protocol-actions.ts";
import { type Bought, type Cover, owner } from "./cover.ts";
import { caughtUp, evaluate, expectDue, findDue } from "./triggers.ts";

const [eth1h, eth24] = [termsOf("FLASHETH1H-001"), termsOf("FLASHETH24-001")];
/** The length of a step of the price history of a day, in seconds. */
const STEP = 300n;

const integer = z.string().transform(BigInt);
const history = z.object({
  points: z.array(z.object({ timestamp: integer, price: integer, lowest: integer, highest: integer })),
});
const claims = z.object({ claims: z.array(z.looseObject({ policy_id: integer })) });

/** For the last test of a file: an indexer ends at a new phase, which its next start indexes. */
export function newFeedPhaseTest(open: () => Cover): void {
  test("a new phase of a feed counts from its begin on: a policy is observed in both phases, and the past stays", async () => {
    const api = open();
    const { protocol, stack } = api;
    const feed = act.feedOf(protocol, "ETH");
    const retired = await protocol.client.readContract({
      abi: mockPriceFeedAbi,
      address: feed,
      functionName: "aggregator",
    });
    const proposed = await act.proposeAggregator(protocol, owner, "ETH");
    /** Adds a round to an aggregator that the feed does not ask. */
    const pushTo = async (aggregator: typeof proposed, price: bigint) => {
      const args = [price, await act.chainTime(protocol)] as const;
      const data = encodeFunctionData({ abi: mockAggregatorAbi, functionName: "push", args });
      await act.send(protocol, owner, aggregator, data);
    };
    const claimOf = async ({ policyId }: Bought) => {
      await caughtUp(api);
      const { json } = await api.request(`/api/v1/stats/claims?product=${eth24.productId}`);
      return claims.parse(json).claims.find((claim) => claim.policy_id === policyId);
    };
    const points = async () => {
      await caughtUp(api);
      const { json } = await api.request(`/api/v1/stats/price-history?asset=${assetBytes32("ETH")}`);
      return history.parse(json).points;
    };

    const expired = await api.buy(eth1h);
    const early = expired.low / 2n;
    await api.push(expired, expired.low, 2);
    await pushTo(proposed, early);
    await api.at(expired.expiresAt + 1n);
    const expiredBefore = await evaluate(api, expired);
    expect(expiredBefore).toMatchObject({ verdict: { code: "expired" }, observed: 0 });

    const triggered = await api.buy(eth24);
    await pushTo(proposed, early);
    await act.trigger(protocol, owner, eth24, triggered.policyId);
    const [paidBefore, claimBefore] = [await evaluate(api, triggered), await claimOf(triggered)];
    expect(paidBefore.verdict).toMatchObject({ code: "triggered" });

    const policy = await api.buy(eth24);
    await act.nextBlockAt(protocol, policy.createdAt + 300n);
    const { roundId } = await api.push(policy, policy.low);
    await act.observe(protocol, owner, eth24, [policy.policyId]);
    const observedAt = await act.chainTime(protocol);
    await expectDue(api);
    const pricesBefore = await points();
    await act.confirmAggregator(protocol, owner, "ETH");
    const begin = await act.chainTime(protocol);
    await pushTo(retired, 3n * policy.price);
    await act.nextBlockAt(protocol, observedAt + 60n);
    await api.push(policy, policy.low);
    expect(await stack.running("indexer")?.exited).toEqual({ code: 4, signal: null });
    await stack.restart("indexer");
    // Until the new build has caught up, the answers are those of the old one.
    await expect.poll(async () => (await evaluate(api, policy)).rounds[0]?.phase).toBe(2);

    const { rounds } = await evaluate(api, policy);
    const newest = rounds[0]?.roundId;
    const shown = rounds.filter((round) => round.roundId === newest || round.roundId === roundId);
    expect(shown).toMatchObject([
      { phase: 2, verdict: "counts" },
      { phase: 1, roundId, verdict: "counts" },
    ]);
    expect(await findDue(api, policy)).toMatchObject({ observation: 2, observedAt });

    const expiredAfter = await evaluate(api, expired);
    expect(expiredAfter.verdict).toEqual(expiredBefore.verdict);
    const ofProposed = expiredAfter.rounds.filter((round) => round.phase === 2);
    expect(ofProposed.map((round) => round.verdict)).toContain("phase_not_begun");
    const paidAfter = await evaluate(api, triggered);
    expect([paidAfter.verdict, paidAfter.observations]).toEqual([
      paidBefore.verdict,
      paidBefore.observations,
    ]);
    expect(await claimOf(triggered)).toEqual(claimBefore);

    const pricesAfter = await points();
    const stepOfBegin = (begin / STEP) * STEP;
    const isPast = ({ timestamp }: { timestamp: bigint }) =>
      timestamp >= expired.createdAt && timestamp < stepOfBegin;
    expect(pricesAfter.filter(isPast)).toEqual(pricesBefore.filter(isPast));
    const since = pricesAfter.filter(({ timestamp }) => timestamp >= stepOfBegin);
    const scaled = (price: bigint) => price * 10n ** 10n;
    expect(since.at(-1)?.price).toBe(scaled(policy.low));
    // At its begin the phase has the answer of its newest early round, and the retired aggregator counts no more.
    expect(since.map(({ lowest }) => lowest)).toContain(scaled(early));
    expect(since.map(({ highest }) => highest)).not.toContain(scaled(3n * policy.price));
  });
}

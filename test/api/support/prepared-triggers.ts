/**
 * Prepared triggers. What this proves: the service finds the three rounds that prove a trigger, and says what is missing until
 * then, and afterwards; the simulation agrees.
 */
import { expect, test } from "vitest";
import { termsOf } from "../../../scripts/local/protocol/terms.ts";
import { waitFor } from "../../../scripts/local/wait.ts";
import { usdc } from "../../support/ledger.ts";
import * as act from "../../support/protocol-actions.ts";
import { codesOf, type PreparedAnswer, prepare } from "./prepare.ts";
import { alice, bob, owner, type ReportSetup } from "./reports.ts";

const btc1h = termsOf("FLASHBTC1H-001");
const eth1h = termsOf("FLASHETH1H-001");

export function preparedTriggers(setup: () => ReportSetup): void {
  const trigger = (policyId: bigint, { productId } = btc1h) => ({
    from: alice.address,
    productId,
    policyId: String(policyId),
  });

  /** Prepares the trigger, and checks that there is a step exactly while nothing stands in its way. */
  async function issuesOf(body: Record<string, string>): Promise<PreparedAnswer["issues"]> {
    const { issues, steps, simulation } = await prepare(setup(), "trigger", body);
    expect([steps.length, simulation.status]).toEqual(issues.length === 0 ? [1, "ok"] : [0, "unknown"]);
    return issues;
  }

  test("before the fall, by the rounds that count, while the price is fresh, until it is paid or expires", async () => {
    const { protocol, chain } = setup();
    await act.refreshFeeds(protocol, owner);
    const { policyId } = await act.purchase(protocol, bob, btc1h, usdc(100));
    const second = await act.purchase(protocol, bob, btc1h, usdc(100));
    const low = await act.triggerPrice(protocol, btc1h, policyId);
    const { price } = await act.latestRound(protocol, "BTC");
    expect(await issuesOf(trigger(policyId))).toMatchObject([
      {
        ...{ code: "not_triggered", blocking: true, rounds: 0 },
        ...{ price: String(price * 10n ** 10n), triggerPrice: expect.stringMatching(/^\d+$/) },
      },
    ]);
    for (let n = 1; n <= 2; n += 1) {
      await act.pushPrice(protocol, owner, "BTC", low);
      expect(await issuesOf(trigger(policyId))).toMatchObject([{ code: "not_triggered", rounds: n }]);
    }
    await act.pushPrice(protocol, owner, "BTC", price);
    await act.pushPrice(protocol, owner, "BTC", low);
    expect(await issuesOf(trigger(policyId))).toEqual([]);
    await act.trigger(protocol, owner, btc1h, policyId);
    expect(await issuesOf(trigger(policyId))).toMatchObject([
      { code: "already_finalized", status: "Triggered" },
    ]);
    // The same rounds prove the second policy's trigger; an answer holds no longer than the cover.
    const { timestamp } = await chain.client.getBlock({ blockHash: second.receipt.blockHash });
    const expiresAt = timestamp + BigInt(btc1h.durationSeconds);
    await act.mineAt(protocol, expiresAt - 100n);
    const late = await prepare(setup(), "trigger", trigger(second.policyId));
    expect([codesOf(late), late.validUntil]).toEqual([[], String(expiresAt)]);
    await act.mineAt(protocol, expiresAt + 3_700n);
    expect(await issuesOf(trigger(second.policyId))).toMatchObject([{ code: "expired" }]);
  });

  test("a proof that is older than an hour is refused as stale", async () => {
    const { protocol, chain } = setup();
    await act.refreshFeeds(protocol, owner);
    const eth24 = termsOf("FLASHETH24-001");
    const { policyId } = await act.purchase(protocol, bob, eth24, usdc(100));
    const low = await act.triggerPrice(protocol, eth24, policyId);
    const { price } = await act.latestRound(protocol, "ETH");
    for (let n = 0; n < 3; n += 1) await act.pushPrice(protocol, owner, "ETH", low);
    const { updatedAt } = await act.latestRound(protocol, "ETH");
    const fresh = await prepare(setup(), "trigger", trigger(policyId, eth24));
    expect(fresh).toMatchObject({ issues: [], simulation: { status: "ok" } });
    await act.mineAt(protocol, updatedAt + 3_500n);
    const late = await prepare(setup(), "trigger", trigger(policyId, eth24));
    expect([codesOf(late), late.validUntil]).toEqual([[], String(updatedAt + 3_600n)]);
    await act.mineAt(protocol, updatedAt + 3_700n);
    await act.pushPrice(protocol, owner, "ETH", price);
    expect(await prepare(setup(), "trigger", trigger(policyId, eth24))).toMatchObject({
      issues: [
        { code: "price_stale", feed: chain.deployment.contracts.ethUsdFeed, updatedAt: String(updatedAt) },
      ],
      simulation: { status: "reverts", step: "trigger", reason: "ORACLE_STALE" },
    });
  });

  test("the proof may be of rounds in the feed's earlier phase, which the index names", async () => {
    const { protocol, stack } = setup();
    await act.refreshFeeds(protocol, owner);
    const { policyId } = await act.purchase(protocol, bob, eth1h, usdc(100));
    const low = await act.triggerPrice(protocol, eth1h, policyId);
    const { price, roundId } = await act.latestRound(protocol, "ETH");
    for (let n = 0; n < 3; n += 1) await act.pushPrice(protocol, owner, "ETH", low);
    await act.proposeAggregator(protocol, owner, "ETH");
    await act.confirmAggregator(protocol, owner, "ETH");
    await act.pushPrice(protocol, owner, "ETH", price);
    // The indexer ends at the new phase; until the next one has caught up, the index does not know the feed's rounds.
    expect(await stack.running("indexer")?.exited).toEqual({ code: 4, signal: null });
    await stack.restart("indexer");
    const prepared = await waitFor({
      what: "the index to know the rounds",
      probe: async () => {
        const answer = await prepare(setup(), "trigger", trigger(policyId, eth1h));
        return codesOf(answer).includes("rounds_unknown") ? undefined : answer;
      },
    });
    expect(prepared).toMatchObject({ issues: [], simulation: { status: "ok" } });
    const rounds = [roundId + 1n, roundId + 2n, roundId + 3n] as const;
    expect(prepared.steps[0]?.call.args).toEqual([
      eth1h.productId,
      String(policyId),
      act.oracleProof(rounds),
    ]);
  });
}

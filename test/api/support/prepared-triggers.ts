/**
 * Prepared triggers by the api. What this proves: an answer has a step with its gas limit exactly while nothing stands in the way, holds
 * until price and cover end, and observes for whoever sends it.
 */
import { expect, test } from "vitest";
import { upkeepGas } from "../../../lib/chain/trigger.ts";
import { termsOf } from "../../../scripts/local/protocol/terms.ts";
import { usdc } from "../../support/ledger.ts";
import * as act from "../../support/protocol-actions.ts";
import { codesOf, type PreparedAnswer, prepare, sendAll } from "./prepare.ts";
import { alice, bob, owner, type ReportSetup } from "./reports.ts";

const btc1h = termsOf("FLASHBTC1H-001");

export function preparedTriggers(setup: () => ReportSetup): void {
  const trigger = (policyId: bigint) => ({
    from: alice.address,
    productId: btc1h.productId,
    policyId: String(policyId),
  });

  /** Prepares the trigger, and checks that there is a step exactly while nothing stands in its way. */
  async function prepared(policyId: bigint): Promise<PreparedAnswer> {
    const answer = await prepare(setup(), "trigger", trigger(policyId));
    const { issues, steps, simulation } = answer;
    expect([steps.length, simulation.status]).toEqual(issues.length === 0 ? [1, "ok"] : [0, "unknown"]);
    return answer;
  }

  test("a policy is observed from its dwell on, again after a minute and a newer round, and paid by the third", async () => {
    const { protocol, chain } = setup();
    await act.refreshFeeds(protocol, owner);
    const { policyId } = await act.purchase(protocol, bob, btc1h, usdc(100));
    const { start, expiresAt } = await act.coverOf(protocol, btc1h, policyId);
    const low = await act.triggerPrice(protocol, btc1h, policyId);
    const { price } = await act.latestRound(protocol, "BTC");
    expect(codesOf(await prepared(policyId))).toEqual(["not_triggered"]);
    await act.pushPrice(protocol, owner, "BTC", low);
    expect(codesOf(await prepared(policyId))).toEqual(["too_early"]);
    for (const at of [start + 300n, start + 370n, expiresAt - 100n]) {
      await act.nextBlockAt(protocol, at);
      await act.pushPrice(protocol, owner, "BTC", low);
      const answer = await prepared(policyId);
      expect(answer).toMatchObject({
        issues: [],
        summary: expect.stringContaining(`policy ${policyId} of FLASHBTC1H-001`),
        validUntil: String(at + 600n < expiresAt ? at + 600n : expiresAt),
        steps: [
          {
            call: { contract: "shieldKeeper", function: "performUpkeep" },
            ...{ to: chain.deployment.contracts.shieldKeeper, gas: String(upkeepGas(1)), report: null },
          },
        ],
      });
      await sendAll(protocol, alice, answer);
    }
    expect((await prepared(policyId)).issues).toMatchObject([
      { code: "already_finalized", status: "Triggered" },
    ]);
    await act.pushPrice(protocol, owner, "BTC", price);
  });
}

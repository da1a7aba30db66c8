/** The contracts work on Base and Base Sepolia only. */
import { expect, test } from "vitest";
import { openProtocol } from "../../scripts/local/protocol/actions/index.ts";
import { termsOf } from "../../scripts/local/protocol/terms.ts";
import { startChain } from "../support/chain.ts";
import * as act from "../support/protocol-actions.ts";
import { alice, expectRevert, GENESIS, owner, USDC } from "./support.ts";

const btc1h = termsOf("FLASHBTC1H-001");

async function protocolOn(chainId: number) {
  const { deployment, url } = await startChain({ timestamp: GENESIS, chainId });
  const protocol = openProtocol(deployment, url);
  await act.mintUsdc(protocol, alice, alice.address, 1_000n * USDC);
  await act.approveUsdc(protocol, alice, deployment.contracts.coverRouter);
  return protocol;
}

test("InvalidChainId for purchases and triggers elsewhere; expiry is not guarded", async () => {
  const protocol = await protocolOn(31337);
  const wrong = "InvalidChainId(31337, 8453)";
  await expectRevert(act.purchase(protocol, alice, btc1h, 100n * USDC), wrong);
  await expectRevert(act.submitTrigger(protocol, owner, btc1h, 1n), wrong);
  await expectRevert(act.markExpired(protocol, alice, btc1h, 1n), "Policy not found");
  await expectRevert(act.redeem(protocol, alice, 203_201n, 1n), wrong);
  await expectRevert(act.executeBurn(protocol, alice), wrong);
});

test("a policy is sold and paid on Base Sepolia", async () => {
  const protocol = await protocolOn(84532);
  const { policyId } = await act.purchase(protocol, alice, btc1h, 100n * USDC);
  expect((await act.trigger(protocol, owner, btc1h, policyId)).usdAmount).toBe(80n);
});

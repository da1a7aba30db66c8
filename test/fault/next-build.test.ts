/**
 * A product gets a new adapter while everything runs. What this proves: the present index goes on, the next build begins beside it with
 * the new adapter's shield, and readers change to it without a gap; then the indexer ends, for its supervisor to go on with it.
 */
import { expect, test } from "vitest";
import { z } from "zod";
import { exitCodes } from "../../scripts/indexer/exit-codes.ts";
import { termsOf } from "../../scripts/local/protocol/terms.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { startChain } from "../support/chain.ts";
import { usdc } from "../support/ledger.ts";
import * as act from "../support/protocol-actions.ts";
import { startStack } from "../support/stack.ts";

const synced = z.object({ lastSyncedBlock: z.string() });

const btc1h = termsOf("FLASHBTC1H-001");

test("reads follow the chain until the next build has the policies of the new adapter", async () => {
  const chain = await startChain();
  const protocol = act.openProtocol(chain.deployment, chain.url);
  const stack = await startStack({ chain, services: ["indexer", "api"] });
  const policy = async (policyId: bigint) =>
    (await stack.request(`/policies/${btc1h.productId}/${policyId}`)).json;
  await act.mintUsdc(protocol, chain.owner, chain.owner.address, usdc(100));
  await act.approveUsdc(protocol, chain.owner, chain.deployment.contracts.coverRouter);
  const indexer = stack.running("indexer");

  const adapter = await act.replaceAdapter(protocol, chain.owner, btc1h);
  const { policyId } = await act.purchase(protocol, chain.owner, btc1h, usdc(1_000));
  const bought = await chain.client.getBlockNumber();
  await waitFor({
    what: "the present index to go on",
    probe: async () => {
      const { json } = await stack.request("/api/v1/indexer/health");
      return BigInt(synced.parse(json).lastSyncedBlock) >= bought || undefined;
    },
  });
  expect(stack.output("indexer")).not.toContain("readers see the next build");

  expect(await indexer?.exited).toEqual({ code: exitCodes.newSource, signal: null });
  await stack.restart("indexer");
  await waitFor({
    what: "the policy of the new adapter",
    probe: async () => JSON.stringify(await policy(policyId)).includes('"source":"index"') || undefined,
  });
  expect(await policy(policyId)).toMatchObject({
    shield: adapter,
    strikePrice: String(60_000n * 10n ** 18n),
  });
});

/** What the chain says of the keeper's work. */
import { parseEventLogs } from "viem";
import { expect } from "vitest";
import { policyManagerAbi } from "../../../abis/PolicyManager.ts";
import { waitFor } from "../../../scripts/local/wait.ts";
import { eventsOnChain } from "../../fault/support/webhook-truth.ts";
import { dueOnChain } from "../../support/due-on-chain.ts";
import type { SoakWorld } from "./world.ts";

/** Far longer than the keeper's waits after failures: those are for a quarter of an hour's cover at most. */
const KEEPER_MS = 600_000;

/** The policies with an event of this name, once for each. */
async function policiesWith(
  { chain }: Pick<SoakWorld, "chain">,
  eventName: "PolicyTriggered" | "PolicyExpired",
): Promise<string[]> {
  const address = chain.deployment.contracts.policyManager;
  const logs = await chain.client.getLogs({ address, fromBlock: 0n });
  return parseEventLogs({ abi: policyManagerAbi, logs, eventName })
    .map(({ args }) => `${args.productId}/${args.policyId}`)
    .sort();
}

/** The policies that became due, and those that expired, by rounds, terms and block times. */
async function policiesByTerms({ chain }: Pick<SoakWorld, "chain">) {
  const due = await dueOnChain(chain);
  const events = await eventsOnChain(chain);
  return {
    due: due.map(({ productId, policyId }) => `${productId}/${policyId}`).sort(),
    expired: events
      .filter(({ type }) => type === "policy_expired")
      .map(({ ref }) => ref)
      .sort(),
  };
}

/**
 * Waits until the keeper has triggered each policy that became due, and marked each that expired; expects that it did so once for
 * each and for no other. Prices and purchases must rest. @returns the number of triggers.
 */
export async function expectKeeperDone(world: SoakWorld): Promise<number> {
  const done = async () => ({
    triggered: await policiesWith(world, "PolicyTriggered"),
    marked: await policiesWith(world, "PolicyExpired"),
  });
  await waitFor({
    what: "every due policy to be triggered and every expired one to be marked",
    probe: async () => {
      const [wanted, { triggered, marked }] = [await policiesByTerms(world), await done()];
      return (triggered.length >= wanted.due.length && marked.length >= wanted.expired.length) || undefined;
    },
    timeoutMs: KEEPER_MS,
    intervalMs: 2_000,
  }).catch(() => {}); // the expectations below fail with more detail
  const [{ due, expired }, { triggered, marked }] = [await policiesByTerms(world), await done()];
  expect(triggered, "the policies that were triggered are those that became due").toEqual(due);
  expect(marked, "the policies that were marked are those that expired").toEqual(expired);
  const counted = await world.connection.sql`
    select missed, missed_while_down, refused from service.keeper_audit where missed + missed_while_down + refused > 0`;
  expect([...counted], "policies that the service counts as missed").toEqual([]);
  return triggered.length;
}

/** What the chain says of the keeper's work. */
import { parseEventLogs } from "viem";
import { expect } from "vitest";
import { policyManagerAbi } from "../../../abis/PolicyManager.ts";
import { waitFor } from "../../../scripts/local/wait.ts";
import { eventsOnChain } from "../../fault/support/webhook-truth.ts";
import { dueOnChain, fallenFor } from "../../support/due-on-chain.ts";
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

/** A fall of so many blocks, one a second, is paid whatever is killed in it: three observations, a minute apart, take two minutes. */
const PAID_AFTER = 200n;

/** A shorter fall, in blocks, is not missed: no more than half of the two minutes passes while the node is dead. */
const MISSABLE_AFTER = 60n;

type Named = { readonly productId: string; readonly policyId: bigint };
const names = (policies: readonly Named[]) =>
  policies.map(({ productId, policyId }) => `${productId}/${policyId}`).sort();

/** The policies that can be paid, those that must be, and those that expired, by rounds, terms and block times. */
async function policiesByTerms({ chain }: Pick<SoakWorld, "chain">) {
  const events = await eventsOnChain(chain);
  return {
    due: names(await dueOnChain(chain)),
    fallen: names(await fallenFor(chain, PAID_AFTER)),
    expired: events
      .filter(({ type }) => type === "policy_expired")
      .map(({ ref }) => ref)
      .sort(),
  };
}

/**
 * Waits until the keeper has triggered each policy whose feed stayed at or below its barrier for `PAID_AFTER` blocks, and has marked each
 * that expired. Expects that it did so once for each, and triggered none that never became due. Prices and purchases must rest.
 * @returns the number of triggers.
 */
export async function expectKeeperDone(world: SoakWorld): Promise<number> {
  const read = async () => ({
    ...(await policiesByTerms(world)),
    triggered: await policiesWith(world, "PolicyTriggered"),
    marked: await policiesWith(world, "PolicyExpired"),
  });
  const lacking = ({ fallen, triggered }: Awaited<ReturnType<typeof read>>) =>
    fallen.filter((policy) => !triggered.includes(policy));
  await waitFor({
    what: "every fallen policy to be triggered and every expired one to be marked",
    probe: async () => {
      const now = await read();
      return (lacking(now).length === 0 && now.marked.length >= now.expired.length) || undefined;
    },
    timeoutMs: KEEPER_MS,
    intervalMs: 2_000,
  }).catch(() => {}); // the expectations below fail with more detail
  const now = await read();
  const { triggered, due, marked, expired } = now;
  expect(
    lacking(now),
    "policies that were not triggered, although their feed stayed at or below the barrier",
  ).toEqual([]);
  expect(new Set(triggered).size, "policies are triggered once").toBe(triggered.length);
  expect(
    triggered.filter((policy) => !due.includes(policy)),
    "policies that were triggered without a price at or below their barrier",
  ).toEqual([]);
  expect(marked, "the policies that were marked are those that expired").toEqual(expired);
  // A fall that was too short, given what was killed in it, may be missed, and is then counted.
  const [counted] = await world.connection.sql<{ policies: number }[]>`
    select coalesce(sum(missed + missed_while_down + refused), 0)::int as policies from service.keeper_audit`;
  const low = names(await fallenFor(world.chain, MISSABLE_AFTER));
  const unpaid = low.filter((policy) => !triggered.includes(policy));
  expect(counted?.policies, "policies that the service counts as missed").toBeLessThanOrEqual(unpaid.length);
  return triggered.length;
}

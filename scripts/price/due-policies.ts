/** The policies that a fall of the price makes due, as the api says, and what became of them. */
import { z } from "zod";
import type { Api } from "../demo/api-client.ts";
import { waitFor } from "../local/wait.ts";

const synced = z.object({ lastSyncedBlock: z.string() });
const duePolicy = z.object({
  productName: z.string().nullable(),
  productId: z.string(),
  policyId: z.string(),
  buyer: z.string(),
  payoutAmount: z.string(),
  expiresAt: z.string(),
  observation: z.int(),
});
const page = z.object({ policies: z.array(duePolicy) });
export type DuePolicy = z.output<typeof duePolicy>;

/** How long the keeper is waited for, in ms: it looks several times a second. */
const KEEPER_MS = 20_000;

/** Waits until the index has a block. @throws after a minute */
async function indexHas({ call }: Api, block: bigint): Promise<void> {
  await waitFor({
    what: `the index to have block ${block}`,
    probe: async () =>
      BigInt((await call("/api/v1/indexer/health", synced, { quiet: true })).lastSyncedBlock) >= block ||
      undefined,
    intervalMs: 200,
  });
}

const readDue = async ({ call }: Api): Promise<readonly DuePolicy[]> =>
  (await call("/api/v1/triggers/due?limit=100", page, { quiet: true })).policies;

/**
 * The policies that are due once the index has `block`. Waits until the keeper has observed them.
 * @throws when the index does not follow, or nobody observes them
 */
export async function observedPolicies(api: Api, block: bigint): Promise<readonly DuePolicy[]> {
  await indexHas(api, block);
  const due = await readDue(api);
  if (due.length > 0)
    await waitFor({
      what: "the keeper to observe what is due",
      probe: async () => (await readDue(api)).length === 0 || undefined,
      intervalMs: 200,
      timeoutMs: KEEPER_MS,
    });
  return due;
}

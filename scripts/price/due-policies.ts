/** The policies that a fall of the price makes due, as the api says. */
import { z } from "zod";
import type { Api } from "../demo/api-client.ts";
import { waitFor } from "../local/wait.ts";

const synced = z.object({ lastSyncedBlock: z.string() });
const purchases = z.object({ events: z.array(z.object({ ref: z.string() })) });
const policy = z.object({
  productName: z.string().nullable(),
  productId: z.string(),
  policyId: z.string(),
  buyer: z.string(),
  payoutAmount: z.string(),
  expiresAt: z.string(),
  due: z.boolean().nullable(),
  /** Unix seconds; null until the policy is paid. */
  triggeredAt: z.string().nullable(),
});
export type DuePolicy = z.output<typeof policy>;

/** The longest window of a product, in seconds. */
const LONGEST_WINDOW = 48n * 3600n;
/** At most this many policies are read, newest first: one page of the activity feed. */
export const PURCHASES_ASKED = 100;

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

/**
 * The due policies among the newest {@link PURCHASES_ASKED}, once the index has `block`, whose time is `now` (Unix seconds);
 * also those that the keeper has paid since then.
 * @throws when the index does not follow, or the api refuses a call
 */
export async function readDuePolicies(
  api: Api,
  { block, now }: { block: bigint; now: bigint },
): Promise<DuePolicy[]> {
  await indexHas(api, block);
  const { events } = await api.call(
    `/api/v1/stats/activity?type=policy_purchased&since=${now - LONGEST_WINDOW}&limit=${PURCHASES_ASKED}`,
    purchases,
    { quiet: true },
  );
  const policies = await Promise.all(
    events.map(({ ref }) => api.call(`/policies/${ref.replace(":", "/")}`, policy, { quiet: true })),
  );
  return policies.filter(
    ({ due, triggeredAt }) => due === true || (triggeredAt !== null && BigInt(triggeredAt) >= now),
  );
}

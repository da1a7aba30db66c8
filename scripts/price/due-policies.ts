/** The policies that a fall of the price makes due, as the api says, and what became of them. */
import { z } from "zod";
import { type AssetSymbol, assetBytes32 } from "../../lib/products.ts";
import type { Api } from "../demo/api-client.ts";
import { waitFor } from "../local/wait.ts";

const synced = z.object({ lastSyncedBlock: z.string() });
const openPolicy = z.object({
  productName: z.string().nullable(),
  productId: z.string(),
  policyId: z.string(),
  buyer: z.string(),
  payoutAmount: z.string(),
  triggerPrice: z.string(),
});
export type OpenPolicy = z.output<typeof openPolicy>;
const nearest = z.object({ policies: z.array(openPolicy) });
const due = z.object({ policies: z.array(z.unknown()) });
const evaluation = z.object({
  observations: z.array(z.object({ count: z.int(), blockNumber: z.string() })),
});

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

/** The hundred open policies nearest to their trigger price that `price` (8 decimals) reaches, once the index has `block`. */
export async function policiesReachedBy(
  api: Api,
  asset: AssetSymbol,
  price: bigint,
  block: bigint,
): Promise<readonly OpenPolicy[]> {
  await indexHas(api, block);
  const path = `/api/v1/policies/nearest?asset=${assetBytes32(asset)}&limit=100`;
  const { policies } = await api.call(path, nearest, { quiet: true });
  return policies.filter(({ triggerPrice }) => BigInt(triggerPrice) >= price);
}

/**
 * Of `policies`, those that the keeper has observed since `block`, and for which time. Waits until nothing is left to observe.
 * @throws when the index does not follow, or nobody observes what is due
 */
export async function observedSince(
  api: Api,
  policies: readonly OpenPolicy[],
  block: bigint,
): Promise<readonly (OpenPolicy & { readonly observation: number })[]> {
  await indexHas(api, block);
  await waitFor({
    what: "the keeper to observe what is due",
    probe: async () =>
      (await api.call("/api/v1/triggers/due?limit=1", due, { quiet: true })).policies.length === 0 ||
      undefined,
    intervalMs: 200,
    timeoutMs: KEEPER_MS,
  });
  const newest = await Promise.all(
    policies.map(async (policy) => {
      const path = `/api/v1/triggers/${policy.productId}/${policy.policyId}`;
      const { observations } = await api.call(path, evaluation, { quiet: true });
      const [last] = observations;
      return last && BigInt(last.blockNumber) >= block ? [{ ...policy, observation: last.count }] : [];
    }),
  );
  return newest.flat();
}

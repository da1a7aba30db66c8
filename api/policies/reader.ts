import { within } from "../../lib/within.ts";
import type { PolicyKey } from "../chain/contracts/policy.ts";
import { chainNotFound } from "../http/dependency-timeout.ts";
import { LAG_LIMIT } from "../index/status.ts";
import type { Readers } from "../readers.ts";
import type { AsOf, PolicyRecord } from "./body.ts";
import { findPolicy, type IndexedPolicy } from "./queries.ts";

/** How long the index may take before the contracts are asked instead, in ms. */
const INDEX_TIMEOUT_MS = 1500;
/** How long an index that has the policy waits to learn whether it lags, in ms; mostly the head is known already. */
const HEAD_TIMEOUT_MS = 300;
/** Both ways together end by then, in ms. */
const READ_TIMEOUT_MS = 4800;

export type FoundPolicy = { policy: PolicyRecord; asOf: AsOf };

/** True when all that an answer needs is in the row: the index may not have known the product. */
function isComplete(policy: IndexedPolicy): policy is IndexedPolicy & PolicyRecord {
  return policy.shield !== null && policy.expiresAt !== null;
}

/**
 * A policy out of the index, with what the index could not know because its product was set up before the first indexed
 * block: shield and dates, which never change and so are true at every block.
 * @throws ApiError `chain_not_found` when only the chain could tell and does not answer
 */
export async function completePolicy(readers: Readers, policy: IndexedPolicy): Promise<PolicyRecord> {
  if (isComplete(policy)) return policy;
  const { productId, policyId } = policy;
  const found = await readers.chain.policy({ productId, policyId });
  // The chain was reorganised, and the index is about to follow.
  if (!found) throw chainNotFound(new Error(`the chain lacks policy ${policyId} of ${productId}`));
  const { shield, expiresAt, waitingEndsAt } = found.policy;
  return { ...policy, shield, expiresAt, waitingEndsAt };
}

/** A policy as the contracts hold it, with its product's name where that is known; undefined when there is none. */
async function readFromChain(readers: Readers, key: PolicyKey): Promise<FoundPolicy | undefined> {
  const [found, names] = await Promise.all([
    readers.chain.policy(key),
    readers.productNames([key.productId]),
  ]);
  if (!found) return undefined;
  const productName = names.get(key.productId) ?? null;
  return { policy: { ...found.policy, productName }, asOf: found.asOf };
}

/** What the index knows, when it knows it whole and in time. */
async function readFromIndex({ index }: Readers, key: PolicyKey): Promise<FoundPolicy | undefined> {
  try {
    const read = index.read((db) => findPolicy(db, key));
    const { asOf, value } = await within(INDEX_TIMEOUT_MS, read, () => new Error("too slow"));
    return value && isComplete(value) ? { policy: value, asOf } : undefined;
  } catch {
    return undefined; // whatever it is, the contracts know the policy as well
  }
}

async function isFresh({ chain }: Readers, asOf: AsOf): Promise<boolean> {
  try {
    const { number } = await within(HEAD_TIMEOUT_MS, chain.recentHead(), chainNotFound);
    return number <= asOf.number + LAG_LIMIT;
  } catch {
    return true; // without the chain there is nothing fresher than the index
  }
}

/**
 * Reads a policy from the index, or from the contracts while the index does not have it, lags or is down: a buyer reads
 * what it has just bought. Undefined when there is no such policy.
 * @throws ApiError `chain_not_found` when only the chain could tell
 */
export function readPolicy(readers: Readers, key: PolicyKey): Promise<FoundPolicy | undefined> {
  const read = async () => {
    const indexed = await readFromIndex(readers, key);
    if (!indexed) return readFromChain(readers, key);
    if (await isFresh(readers, indexed.asOf)) return indexed;
    return readFromChain(readers, key).catch(() => indexed);
  };
  return within(READ_TIMEOUT_MS, read(), chainNotFound);
}

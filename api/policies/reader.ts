import { isAddressEqual, zeroAddress } from "viem";
import { within } from "../../lib/timeout.ts";
import type { AsOf } from "../chain/block.ts";
import type { ChainReads } from "../chain/chain-reads.ts";
import type { PolicyKey } from "../chain/contracts/policy.ts";
import type { PolicyRecord } from "../chain/policy-body.ts";
import { chainNotFound } from "../http/dependency-timeout.ts";
import type { IndexReader } from "../indexed/reader.ts";
import { LAG_LIMIT } from "../indexed/status.ts";
import { findPolicy, type IndexedPolicy } from "./queries.ts";

/** Longest wait for the index before the contracts are read instead, in ms. */
const INDEX_TIMEOUT_MS = 1500;
/** Longest wait for the chain's head when checking whether the index lags, in ms. */
const HEAD_TIMEOUT_MS = 300;
/** Timeout of both reads together, in ms. */
const READ_TIMEOUT_MS = 4800;

export type PolicyReaders = {
  readonly index: IndexReader;
  readonly chain: ChainReads;
};

export type FoundPolicy = { policy: PolicyRecord; asOf: AsOf };

/** True when the row has everything: the index may not know a product from before the first indexed block. */
function isComplete(policy: IndexedPolicy): policy is IndexedPolicy & PolicyRecord {
  return policy.shield !== null && policy.expiresAt !== null;
}

/**
 * Adds shield, dates and prices from the contracts to an indexed policy of a product from before the first indexed block. They
 * never change, so they are true at every block. Of a policy whose key has come again nobody knows them: it gets no shield
 * (the zero address), and ends with its purchase.
 * @throws ApiError `chain_not_found` when the chain is needed and does not answer
 */
export async function completePolicy(readers: PolicyReaders, policy: IndexedPolicy): Promise<PolicyRecord> {
  if (isComplete(policy)) return policy;
  const { productId, policyId, createdAt } = policy;
  // The contracts have the key's newer policy only.
  if (policy.replaced)
    return { ...policy, shield: policy.shield ?? zeroAddress, expiresAt: policy.expiresAt ?? createdAt };
  const found = await readers.chain.policy({ productId, policyId });
  // The chain was reorganised, and the index has not followed yet.
  if (!found) throw chainNotFound(new Error(`the chain lacks policy ${policyId} of ${productId}`));
  const { shield, expiresAt, strike, triggerPrice } = found.policy;
  return { ...policy, shield, expiresAt, strike, triggerPrice };
}

/** The policy from the index, if complete and in time. */
async function readFromIndex({ index }: PolicyReaders, key: PolicyKey): Promise<FoundPolicy | undefined> {
  try {
    const read = index.read((db) => findPolicy(db, key));
    const { asOf, value } = await within(INDEX_TIMEOUT_MS, read, () => new Error("too slow"));
    return value && isComplete(value) ? { policy: value, asOf } : undefined;
  } catch {
    return undefined; // the contracts have the policy as well
  }
}

/** Adds what only the index knows to a policy from the contracts; the shield tells whether both are of the same policy. */
function withIndexed(found: FoundPolicy, { policy: indexed }: FoundPolicy): FoundPolicy {
  if (!isAddressEqual(found.policy.shield, indexed.shield)) return found;
  const { priceSnapshot, triggeredAt, bondEpochId } = indexed;
  const payout = found.policy.triggered ? { triggeredAt, bondEpochId } : {};
  return { ...found, policy: { ...found.policy, priceSnapshot, ...payout } };
}

async function isFresh({ chain }: PolicyReaders, asOf: AsOf): Promise<boolean> {
  try {
    const { number } = await within(HEAD_TIMEOUT_MS, chain.recentHead(), chainNotFound);
    return number <= asOf.number + LAG_LIMIT;
  } catch {
    return true; // without the chain nothing is fresher than the index
  }
}

/**
 * Reads a policy from the index, or from the contracts while the index lacks it, lags or is down, so that buyers can read
 * a policy right after the purchase. Undefined when there is no such policy.
 * @throws ApiError `chain_not_found` when the chain is needed and does not answer
 */
export function readPolicy(readers: PolicyReaders, key: PolicyKey): Promise<FoundPolicy | undefined> {
  const read = async () => {
    const indexed = await readFromIndex(readers, key);
    if (!indexed) return readers.chain.policy(key);
    if (await isFresh(readers, indexed.asOf)) return indexed;
    return readers.chain.policy(key).then(
      (found) => found && withIndexed(found, indexed),
      () => indexed,
    );
  };
  return within(READ_TIMEOUT_MS, read(), chainNotFound);
}

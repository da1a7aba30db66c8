/** Which policies the contracts would observe in the next block: slowly, by asking each policy's adapter. */
import { type Address, encodeFunctionData, type Hex } from "viem";
import { policyManagerAbi } from "../../../abis/PolicyManager.ts";
import { shieldAdapterAbi } from "../../../abis/ShieldAdapter.ts";
import { findRevert } from "../../../lib/chain/reverts.ts";
import type { TestChain } from "../../support/chain.ts";
import { batched } from "./batched.ts";
import { newestRounds, shieldTerms } from "./oracle-views.ts";

export type PolicyKey = { readonly productId: Hex; readonly policyId: bigint };
type AdapterPolicy = PolicyKey & { /** The adapter. */ readonly shield: Address };

/**
 * Evaluates a policy as its adapter's keeper in the block after the newest one, at the newest one's time.
 * @returns the revert; undefined when it would observe, reset, pay or expire it
 */
export async function refusalOf(
  { client }: Pick<TestChain, "client">,
  { shield, policyId }: Pick<AdapterPolicy, "shield" | "policyId">,
): Promise<string | undefined> {
  const { number, timestamp: time } = await client.getBlock();
  const adapter = { abi: shieldAdapterAbi, address: shield } as const;
  const account = await client.readContract({ ...adapter, functionName: "keeper" });
  const data = encodeFunctionData({
    ...{ abi: shieldAdapterAbi, functionName: "checkAndSettlePolicy", args: [policyId] },
  });
  const blockOverrides = { number: number + 1n, time };
  try {
    await client.call({ account, to: shield, data, blockNumber: number, blockOverrides });
    return undefined;
  } catch (error) {
    const revert = findRevert(error);
    if (revert === undefined) throw error;
    return revert.text;
  }
}

/** Every policy of the deployment, with its adapter. */
export async function allPolicies({
  client: test,
  deployment: { contracts },
}: TestChain): Promise<AdapterPolicy[]> {
  const client = batched(test);
  const manager = { abi: policyManagerAbi, address: contracts.policyManager } as const;
  const sold = await client.getContractEvents({
    ...{ ...manager, eventName: "PolicyCreated", fromBlock: 0n, strict: true },
  });
  return Promise.all(
    sold.map(async ({ args: { productId, policyId } }) => {
      const args = [productId, policyId] as const;
      const { shield } = await client.readContract({ ...manager, functionName: "getPolicy", args });
      return { productId, policyId, shield };
    }),
  );
}

/** The policies, as `productId policyId`, that an evaluation in the next block would observe. Sorted. */
export async function dueByForce(test: TestChain): Promise<string[]> {
  const chain = { ...test, client: batched(test.client) };
  const { client, deployment } = chain;
  const [{ timestamp: now }, feeds] = await Promise.all([
    client.getBlock(),
    newestRounds(client, deployment),
  ]);
  const due = await Promise.all(
    (await allPolicies(chain)).map(async (policy) => {
      const { asset, endsAt, triggerPrice } = await shieldTerms(client, policy.shield, policy.policyId);
      const price = BigInt(String(feeds.find((feed) => feed.asset === asset)?.answer)) * 10n ** 10n;
      // Otherwise it would be expired or reset.
      if (now > endsAt || price > triggerPrice) return [];
      return (await refusalOf(chain, policy)) === undefined ? [`${policy.productId} ${policy.policyId}`] : [];
    }),
  );
  return due.flat().sort();
}

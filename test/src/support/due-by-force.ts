/** Which policies the contracts would pay in the newest block: slowly, from all rounds and the contracts alone. */
import { type Address, encodeFunctionData, type Hex } from "viem";
import { coverRouterAbi } from "../../../abis/CoverRouter.ts";
import { policyManagerAbi } from "../../../abis/PolicyManager.ts";
import { findRevert } from "../../../lib/chain/reverts.ts";
import { oracleProof } from "../../../scripts/local/protocol/actions/index.ts";
import type { TestChain } from "../../support/chain.ts";
import { batched } from "./batched.ts";
import { rounds, shieldTerms } from "./oracle-views.ts";
import type { Row } from "./rows.ts";

export type PolicyKey = { readonly productId: Hex; readonly policyId: bigint };
type Proof = readonly [bigint, bigint, bigint];

const big = (value: unknown) => BigInt(String(value));

/** Calls `submitTrigger` in the state after a block, at a time in Unix seconds. @returns the revert; undefined when it would pay */
async function refusalAt(
  { client, deployment }: TestChain,
  { productId, policyId }: PolicyKey,
  proof: Proof,
  { number, time }: { number: bigint; time: bigint },
): Promise<string | undefined> {
  try {
    await client.call({
      to: deployment.contracts.coverRouter,
      data: encodeFunctionData({
        abi: coverRouterAbi,
        functionName: "submitTrigger",
        args: [productId, policyId, oracleProof(proof)],
      }),
      blockNumber: number,
      blockOverrides: { time },
    });
    return undefined;
  } catch (error) {
    const revert = findRevert(error);
    if (revert === undefined) throw error;
    return revert.text;
  }
}

/** Calls `submitTrigger` with a proof in the newest block. @returns the revert; undefined when it would pay. */
export async function refusalOf(
  chain: TestChain,
  policy: PolicyKey,
  proof: Proof,
): Promise<string | undefined> {
  const { number, timestamp: time } = await chain.client.getBlock();
  return refusalAt(chain, policy, proof, { number, time });
}

/** Every policy of the deployment, with its adapter. */
export async function allPolicies({
  client: test,
  deployment: { contracts },
}: TestChain): Promise<(PolicyKey & { shield: Address })[]> {
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

/** Three rounds that fulfil the shield's conditions on rounds, the newest among them; undefined when there are none. */
function proofOf(
  { asset, strike, coverFrom, endsAt, triggerPrice }: Awaited<ReturnType<typeof shieldTerms>>,
  all: readonly Row[],
): Proof | undefined {
  if (strike === 0n) return undefined;
  const fallen = all.filter((round) => {
    const [price, updatedAt] = [big(round.answer) * 10n ** 10n, big(round.updated_at)];
    const covered = updatedAt >= coverFrom && updatedAt <= endsAt;
    return round.asset === asset && price > 0n && price <= triggerPrice && covered;
  });
  const newest = fallen.sort((a, b) => Number(big(b.updated_at) - big(a.updated_at))).slice(0, 3);
  const [first, second, third] = newest.map((round) => big(round.round_id)).sort((a, b) => (a < b ? -1 : 1));
  return first !== undefined && second !== undefined && third !== undefined
    ? [first, second, third]
    : undefined;
}

/**
 * Reads all policies and rounds, and returns a function of a block: the policies, as `productId policyId`, for which some proof from
 * the rounds of earlier blocks would have been paid by a transaction of this block, which is in the state after the block before,
 * at the block's time. Sorted. The feeds have one phase.
 */
export async function openHistoryByForce(test: TestChain): Promise<(block: bigint) => Promise<string[]>> {
  const chain = { ...test, client: batched(test.client) };
  const { client, deployment } = chain;
  const all = await rounds(client, deployment);
  const policies = await Promise.all(
    (await allPolicies(chain)).map(async ({ shield, ...key }) => ({
      key,
      terms: await shieldTerms(client, shield, key.policyId),
    })),
  );
  return async (block) => {
    const { timestamp: time } = await client.getBlock({ blockNumber: block });
    const known = all.filter((round) => big(round.block_number) < block);
    const due = await Promise.all(
      policies.map(async ({ key, terms }) => {
        const proof = proofOf(terms, known);
        if (!proof || (await refusalAt(chain, key, proof, { number: block - 1n, time })) !== undefined)
          return [];
        return [`${key.productId} ${key.policyId}`];
      }),
    );
    return due.flat().sort();
  };
}

/** The policies, as `productId policyId`, for which some proof from all known rounds would be paid now. Sorted. */
export async function dueByForce(test: TestChain): Promise<string[]> {
  const chain = { ...test, client: batched(test.client) };
  const { client, deployment } = chain;
  const all = await rounds(client, deployment);
  const due = await Promise.all(
    (await allPolicies(chain)).map(async ({ shield, ...key }) => {
      const proof = proofOf(await shieldTerms(client, shield, key.policyId), all);
      if (!proof || (await refusalOf(chain, key, proof)) !== undefined) return [];
      return [`${key.productId} ${key.policyId}`];
    }),
  );
  return due.flat().sort();
}

/** Reads the due policies and the evaluations of triggers, and compares both with what the contracts would observe. */
import { type Hex, isHex } from "viem";
import { expect } from "vitest";
import { z } from "zod";
import { allPolicies, dueByForce, type PolicyKey } from "../../src/support/due-by-force.ts";
import { answersCaughtUp } from "./caught-up.ts";

const integer = z.string().transform(BigInt);
const hex = z.custom<Hex>((text) => isHex(text));

const duePolicy = z.looseObject({
  productId: hex,
  policyId: integer,
  triggerPrice: integer,
  expiresAt: integer,
  observation: z.number(),
  observedAt: integer.nullable(),
  observeUntil: integer,
});
const duePage = z.object({
  count: z.number(),
  nextCursor: z.string().nullable(),
  policies: z.array(duePolicy),
});
export type DueAnswer = z.output<typeof duePolicy>;

const evaluation = z.looseObject({
  status: z.string().nullable(),
  verdict: z.looseObject({ code: z.string() }),
  obstacles: z.array(z.object({ code: z.string(), message: z.string(), until: z.string().nullable() })),
  observed: z.number(),
  count: z.number(),
  nextCursor: z.string().nullable(),
  rounds: z.array(z.looseObject({ roundId: integer, updatedAt: integer, verdict: z.string() })),
  observations: z.array(
    z.looseObject({ count: z.number(), dropBps: z.string(), reason: hex, blockTimestamp: z.string() }),
  ),
});
export type EvaluationAnswer = z.output<typeof evaluation>;

type Api = Parameters<typeof answersCaughtUp>[0];

/** Waits until answers describe the chain's newest block. A busy machine restarts an indexer within minutes. */
export const caughtUp = (api: Api): Promise<void> => answersCaughtUp(api, 240_000);

/** One page of the due policies. */
export const duePageOf = async ({ request }: Api, query: string) =>
  duePage.parse((await request(`/api/v1/triggers/due?${query}`)).json);

/** All due policies, by cursor. */
export async function listDue(api: Api, limit = 100): Promise<DueAnswer[]> {
  const found: DueAnswer[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page = await duePageOf(api, `limit=${limit}${cursor ? `&cursor=${cursor}` : ""}`);
    expect(page.count).toBe(page.policies.length);
    found.push(...page.policies);
    cursor = page.nextCursor;
  }
  return found;
}

/** The evaluation of a policy, once answers describe the chain's newest block. */
async function evaluateNow({ request }: Api, key: PolicyKey, query = ""): Promise<EvaluationAnswer> {
  const answer = await request(`/api/v1/triggers/${key.productId}/${key.policyId}${query}`);
  return evaluation.parse(answer.json);
}

/** The evaluation of a policy at the chain's newest block. */
export async function evaluate(api: Api, key: PolicyKey, query = ""): Promise<EvaluationAnswer> {
  await caughtUp(api);
  return evaluateNow(api, key, query);
}

const nameOf = ({ productId, policyId }: PolicyKey) => `${productId} ${policyId}`;

/**
 * Expects the list to have exactly the policies that the contracts would observe in the block after the newest one, and each
 * evaluation to agree with it. @returns the due policies
 */
export async function expectDue(api: Api): Promise<DueAnswer[]> {
  await caughtUp(api);
  const due = await listDue(api);
  expect(due.map(nameOf).sort()).toEqual(await dueByForce(api.chain));
  for (const { expiresAt, observation, observeUntil } of due)
    expect(observeUntil).toBe(expiresAt - 60n * (3n - BigInt(observation)));
  for (const key of await allPolicies(api.chain)) {
    const { verdict, observed } = await evaluateNow(api, key);
    const listed = due.find((policy) => nameOf(policy) === nameOf(key));
    expect([nameOf(key), verdict.code === "due"]).toEqual([nameOf(key), listed !== undefined]);
    if (!listed) continue;
    const { observation, observedAt, observeUntil } = listed;
    expect(verdict).toMatchObject({
      observation,
      observedAt: observedAt === null ? null : String(observedAt),
      observeUntil: String(observeUntil),
    });
    expect(observed).toBe(observation - 1);
  }
  return due;
}

/** The policy in that list; undefined when it is not due. */
export const findDue = async (api: Api, policy: PolicyKey): Promise<DueAnswer | undefined> =>
  (await expectDue(api)).find((other) => nameOf(other) === nameOf(policy));

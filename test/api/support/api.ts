/** Starts the api as its own process, with its own chain and database, and other processes on request. */
import type { Address } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { z } from "zod";
import type { ErrorCode } from "../../../lib/errors.ts";
import { DEV_ADMIN_TOKEN } from "../../../lib/off-local.ts";
import { openProtocol, type Protocol } from "../../../scripts/local/protocol/actions/index.ts";
import { waitFor } from "../../../scripts/local/wait.ts";
import { startChain, type TestChain, type TestChainOptions } from "../../support/chain.ts";
import type { HttpAnswer } from "../../support/http.ts";
import { type CheckedRequest, checkedRequests } from "../../support/openapi.ts";
import { type Stack, type StackOptions, startStack } from "../../support/stack.ts";

export type TestApi = {
  readonly chain: TestChain;
  readonly protocol: Protocol;
  readonly stack: Stack;
  /** Sends one request and checks the response against the served OpenAPI document. */
  readonly request: CheckedRequest;
};

/** Starts a chain with the protocol, and the named processes on it (default: only the api). */
export async function startApi(
  options: Omit<StackOptions, "chain"> & { chainOptions?: TestChainOptions } = {},
): Promise<TestApi> {
  const { chainOptions, services = ["api"], ...rest } = options;
  const chain = await startChain(chainOptions);
  const stack = await startStack({ chain, services, ...rest });
  return {
    chain,
    protocol: openProtocol(chain.deployment, chain.url),
    stack,
    request: await checkedRequests(stack.apiUrl),
  };
}

export const admin = { "x-admin-token": DEV_ADMIN_TOKEN };

const issued = z.object({ keyId: z.number(), apiKey: z.string() });

/** A wallet that nobody has used, for a test that needs a key and no money: a wallet has three keys at most. */
export const newWallet = (): Address => privateKeyToAccount(generatePrivateKey()).address;

/**
 * Issues a key to a wallet, a new one if omitted. Retries on 503, which the api returns until the first start has created
 * the tables.
 */
export async function issueKey(
  request: CheckedRequest,
  wallet: string = newWallet(),
  tier: "free" | "paid" = "free",
): Promise<{ keyId: number; apiKey: string; headers: { "x-api-key": string } }> {
  const answer = await waitFor({
    what: "the tables to exist",
    probe: async () => {
      const body = { wallet, tier };
      const { status, json } = await request("/api/v1/keys/generate", { headers: admin, body });
      return status === 503 ? undefined : { json };
    },
  });
  const { keyId, apiKey } = issued.parse(answer.json);
  return { keyId, apiKey, headers: { "x-api-key": apiKey } };
}

const envelope = z.object({ error: z.string(), message: z.string(), details: z.unknown() });

/** Status and code of an error response, to compare both at once. */
export function failure(answer: HttpAnswer): [status: number, code: string] {
  return [answer.status, envelope.parse(answer.json).error];
}

/**
 * Repeats a call while it gets 503 with one of these codes, as it may on a busy machine. The call must always have the same
 * key or claimant, or do nothing when it is refused.
 */
export const repeatWhile = (
  codes: readonly ErrorCode[],
  call: () => Promise<HttpAnswer>,
): Promise<HttpAnswer> =>
  waitFor({
    what: `an answer other than ${codes.join(" and ")}`,
    probe: async () => {
      const answer = await call();
      const isRepeated = answer.status === 503 && codes.some((code) => failure(answer)[1] === code);
      return isRepeated ? undefined : answer;
    },
  });

/** The `message` of an error response. */
export const messageOf = (answer: HttpAnswer): string => envelope.parse(answer.json).message;

const details = z.object({ details: z.array(z.object({ path: z.string(), message: z.string() })) });

/** The message of a `validation_error` for one field. */
export const faultAt = (answer: HttpAnswer, field: string): string | undefined =>
  details.parse(answer.json).details.find(({ path }) => path === field)?.message;

/** The field paths that a `validation_error` lists, sorted. */
export const invalidFields = (answer: HttpAnswer): string[] =>
  details
    .parse(answer.json)
    .details.map(({ path }) => path)
    .sort();

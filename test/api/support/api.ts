/** The API as its own process on a chain and a database of its own, without indexer and writer unless asked for. */
import { z } from "zod";
import { DEV_ADMIN_TOKEN } from "../../../lib/config.ts";
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
  /** One request; its answer is held to the served OpenAPI document. */
  readonly request: CheckedRequest;
};

/** Starts a chain with the protocol, and the named processes (the api alone when left out) on it. */
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

/** Issues a key to a wallet, once the first start has made the tables: until then the API rightly answers 503. */
export async function issueKey(
  request: CheckedRequest,
  wallet: string,
  tier: "free" | "paid" = "free",
): Promise<{ keyId: number; apiKey: string; headers: { "x-api-key": string } }> {
  const answer = await waitFor({
    what: "the tables to be there",
    probe: async () => {
      const body = { wallet, tier };
      const { status, json } = await request("/api/v1/keys/generate", { headers: admin, body });
      return status === 503 ? undefined : { json };
    },
    timeoutMs: 60_000,
  });
  const { keyId, apiKey } = issued.parse(answer.json);
  return { keyId, apiKey, headers: { "x-api-key": apiKey } };
}

const envelope = z.object({ error: z.string(), message: z.string(), details: z.unknown() });

/** The status and code of an error, for one comparison. */
export function failure(answer: HttpAnswer): [status: number, code: string] {
  return [answer.status, envelope.parse(answer.json).error];
}

/** The error's words. */
export const messageOf = (answer: HttpAnswer): string => envelope.parse(answer.json).message;

const details = z.object({ details: z.array(z.object({ path: z.string(), message: z.string() })) });

/** The fields that a `validation_error` names, sorted. */
export const faultyFields = (answer: HttpAnswer): string[] =>
  details
    .parse(answer.json)
    .details.map(({ path }) => path)
    .sort();

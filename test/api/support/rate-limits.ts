/** Starts apis with small rate limits, and creates clients, each with its own X-Forwarded-For address. */
import type { TestChain } from "../../support/chain.ts";
import type { HttpAnswer, HttpRequest } from "../../support/http.ts";
import { checkedRequests } from "../../support/openapi.ts";
import { type Stack, type StackOptions, startStack } from "../../support/stack.ts";

/** 5 public reads, 2 live scans and 3 failed credentials per minute. */
const limits = { PUBLIC_RATE_LIMIT: "5", LIVE_SCAN_RATE_LIMIT: "2", FAILED_CREDENTIALS_LIMIT: "3" };

/** Starts an api with these limits; it trusts the X-Forwarded-For header of a proxy on this machine. */
export const startLimitedApi = (
  chain: TestChain,
  env: Record<string, string> = {},
  { services = ["api"], ...more }: Omit<StackOptions, "chain" | "env"> = {},
): Promise<Stack> =>
  startStack({ chain, services, ...more, env: { api: { ...limits, TRUST_PROXY: "loopback", ...env } } });

export type Client = (path: string, request?: HttpRequest) => Promise<HttpAnswer>;

/** Creates a client for an address; each response is checked against the OpenAPI document. */
export async function clientsOf({ apiUrl }: Stack): Promise<(address: string) => Client> {
  const request = await checkedRequests(apiUrl);
  return (address) => (path, options) =>
    request(path, { ...options, headers: { ...options?.headers, "x-forwarded-for": address } });
}

export const headerNumber = (answer: HttpAnswer, name: string): number =>
  Number(answer.headers.get(name) ?? Number.NaN);
export const remaining = (answer: HttpAnswer): number => headerNumber(answer, "x-ratelimit-remaining");

/** Sends requests one after the other; returns `status remaining` of each. */
export async function statuses(
  client: Client,
  paths: readonly string[],
  request?: HttpRequest,
): Promise<string[]> {
  const seen: string[] = [];
  for (const path of paths) {
    const answer = await client(path, request);
    seen.push(`${answer.status} ${remaining(answer)}`);
  }
  return seen;
}

export const repeat = (count: number, path: string): string[] => Array<string>(count).fill(path);

/** Apis with small limits, and clients of them: each address is one, by the header that a proxy would send. */
import type { TestChain } from "../../support/chain.ts";
import type { HttpAnswer, HttpRequest } from "../../support/http.ts";
import { checkedRequests } from "../../support/openapi.ts";
import { type Stack, type StackOptions, startStack } from "../../support/stack.ts";

/** 5 public reads, 2 scans and 3 refused credentials a minute. */
const limits = { PUBLIC_RATE_LIMIT: "5", LIVE_SCAN_RATE_LIMIT: "2", FAILED_CREDENTIALS_LIMIT: "3" };

/** Starts an api with these limits that believes what a proxy on this machine says of its clients. */
export const startLimited = (
  chain: TestChain,
  env: Record<string, string> = {},
  { services = ["api"], ...more }: Omit<StackOptions, "chain" | "env"> = {},
): Promise<Stack> =>
  startStack({ chain, services, ...more, env: { api: { ...limits, TRUST_PROXY: "loopback", ...env } } });

export type Client = (path: string, request?: HttpRequest) => Promise<HttpAnswer>;

/** Requests from an address, each answer held to the document. */
export async function clients({ apiUrl }: Stack): Promise<(address: string) => Client> {
  const request = await checkedRequests(apiUrl);
  return (address) => (path, options) =>
    request(path, { ...options, headers: { ...options?.headers, "x-forwarded-for": address } });
}

export const numberOf = (answer: HttpAnswer, name: string): number =>
  Number(answer.headers.get(name) ?? Number.NaN);
export const remaining = (answer: HttpAnswer): number => numberOf(answer, "x-ratelimit-remaining");

/** Requests one after the other, with the status and what remains of each. */
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

export const times = (count: number, path: string): string[] => Array<string>(count).fill(path);

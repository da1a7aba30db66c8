/** Starts the main chain, the testnet, the api and the writer for tests of the sandbox. */
import type { Address } from "viem";
import { expect } from "vitest";
import { z } from "zod";
import { type Connection, connect } from "../../../lib/db/connect.ts";
import { openProtocol, type Protocol } from "../../../scripts/local/protocol/actions/index.ts";
import { waitFor } from "../../../scripts/local/wait.ts";
import { startChain, startTestnet, type TestChain, type TestChainOptions } from "../../support/chain.ts";
import { atEnd } from "../../support/cleanup.ts";
import type { HttpAnswer, HttpRequest } from "../../support/http.ts";
import { type CheckedRequest, checkedRequests } from "../../support/openapi.ts";
import { type Stack, type StackOptions, startStack } from "../../support/stack.ts";

export type TestSandbox = {
  readonly main: TestChain;
  readonly testnet: TestChain;
  /** The testnet's contracts. */
  readonly protocol: Protocol;
  readonly stack: Stack;
  /** Each response is checked against the OpenAPI document. */
  readonly request: CheckedRequest;
  readonly connection: Connection;
  readonly info: () => Promise<Info>;
  /** Waits until `GET /sandbox/info` meets `test`; by default, until the sandbox is ready. */
  readonly until: (test?: (info: Info) => boolean) => Promise<Info>;
  /** Sends one purchase; `body` is sent as JSON, and no body if omitted. */
  readonly buy: (body?: unknown, headers?: Record<string, string>) => Promise<HttpAnswer>;
};

const infoSchema = z.object({
  enabled: z.boolean(),
  status: z.enum(["ready", "unready", "disabled"]),
  reason: z.string().nullable(),
  sandboxWallet: z.templateLiteral(["0x", z.string()]).nullable(),
  funds: z.object({ usdc: z.string(), allowance: z.string(), eth: z.string() }).nullable(),
});
export type Info = z.output<typeof infoSchema>;

const bought = z.object({
  policyId: z.string(),
  productId: z.templateLiteral(["0x", z.string()]),
  buyer: z.templateLiteral(["0x", z.string()]),
  premiumPaid: z.string(),
  txHash: z.templateLiteral(["0x", z.string()]),
  blockNumber: z.number(),
  policyUrl: z.string(),
  blockExplorer: z.string(),
});

/** The policy in a response. @throws when the response has none */
export function boughtOf(answer: HttpAnswer): z.output<typeof bought> {
  expect(answer.status, answer.text).toBe(200);
  return bought.parse(answer.json);
}

export type SandboxOptions = Omit<StackOptions, "chain" | "testnet"> & {
  readonly testnetOptions?: TestChainOptions;
  /** Shares the chains of another stack. */
  readonly chains?: Pick<TestSandbox, "main" | "testnet">;
};

/** Starts api and writer on their own chains; without a faucet unless `testnetKeys` names its key. */
export async function startSandbox({
  testnetOptions,
  chains,
  ...options
}: SandboxOptions = {}): Promise<TestSandbox> {
  const [main, testnet] = chains
    ? [chains.main, chains.testnet]
    : await Promise.all([startChain(), startTestnet({ blockTime: 1, mixedMining: true, ...testnetOptions })]);
  const stack = await startStack({
    chain: main,
    testnet,
    services: ["api", "writer"],
    ...options,
    testnetKeys: { faucet: null, ...options.testnetKeys },
    env: { ...options.env, writer: { CONFIRMATIONS: "1", ...options.env?.writer } },
  });
  const request = await checkedRequests(stack.apiUrl);
  const connection = connect(stack.databaseUrl, { name: "test" });
  atEnd(() => connection.close());

  const info = async () => infoSchema.parse((await request("/sandbox/info")).json);
  return {
    main,
    testnet,
    protocol: openProtocol(testnet.deployment, testnet.url),
    stack,
    request,
    connection,
    info,
    until: (test = ({ status, reason }) => status === "ready" && reason === null) =>
      waitFor({
        what: "the sandbox to reach the expected status",
        probe: async () => {
          const answer = await request("/sandbox/info");
          if (answer.status !== 200) return undefined;
          const now = infoSchema.parse(answer.json);
          return test(now) ? now : undefined;
        },
      }),
    buy: (body, headers) => request("/sandbox/try", callOf(body, headers)),
  };
}

/** A request as a client sends it; without a body there is no content type either. */
export const callOf = (body?: unknown, headers: Record<string, string> = {}): HttpRequest =>
  body === undefined ? { method: "POST", headers } : { body, headers };

/** The nonce of a testnet wallet. */
export const nonceOf = ({ testnet }: Pick<TestSandbox, "testnet">, address: Address): Promise<number> =>
  testnet.client.getTransactionCount({ address });

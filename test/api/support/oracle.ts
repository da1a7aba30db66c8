/** Starts the api and a writer that signs prices, and checks what it signs with the deployed verifier. */
import { type Address, type Hex, toFunctionSelector } from "viem";
import { expect } from "vitest";
import { z } from "zod";
import { priceProofVerifierAbi } from "../../../abis/PriceProofVerifier.ts";
import type { Connection } from "../../../lib/db/connect.ts";
import { privateKeyOf } from "../../../scripts/local/anvil.ts";
import { openProtocol, type Protocol } from "../../../scripts/local/protocol/actions/index.ts";
import { oracleSigner } from "../../../scripts/local/service-wallets.ts";
import { waitFor } from "../../../scripts/local/wait.ts";
import { startChain, type TestChain } from "../../support/chain.ts";
import type { HttpAnswer } from "../../support/http.ts";
import { type CheckedRequest, checkedRequests } from "../../support/openapi.ts";
import { type RpcCall, type RpcProxy, startRpcProxy } from "../../support/rpc-proxy.ts";
import { type Stack, type StackOptions, startStack } from "../../support/stack.ts";
import { issueKey, repeatWhile } from "./api.ts";

/** The environment of a writer that signs prices. */
export const oracleEnv = { writer: { ORACLE_PRIVATE_KEY: privateKeyOf(oracleSigner) } };

const proofShape = z.object({
  assetBytes32: z.templateLiteral(["0x", z.string()]),
  price: z.string(),
  decimals: z.number(),
  verifiedAt: z.number(),
  signature: z.templateLiteral(["0x", z.string()]),
});
export type Proof = z.output<typeof proofShape>;

/** Codes of a call that got no answer in time. */
type LateCode = "oracle_signer_unavailable" | "chain_not_found";
const lateCodes: readonly LateCode[] = ["oracle_signer_unavailable", "chain_not_found"];

export type TestOracle = {
  readonly chain: TestChain;
  readonly protocol: Protocol;
  /** In front of the chain, for api and writer. */
  readonly proxy: RpcProxy;
  readonly stack: Stack;
  /** Each response is checked against the OpenAPI document. */
  readonly request: CheckedRequest;
  /** A key's header. */
  readonly headers: { readonly "x-api-key": string };
  /** The contract that checks signatures. */
  readonly verifier: Address;
  readonly signer: () => Promise<HttpAnswer>;
  readonly sign: (asset?: unknown) => Promise<HttpAnswer>;
  /** Calls again while the code is one of `late`: on a busy machine the writer, or the node that it reads, takes seconds. */
  readonly signInTime: (asset?: unknown, late?: readonly LateCode[]) => Promise<HttpAnswer>;
  /** The signer that the verifier finds for a proof. */
  readonly signerOnChain: (proof: Proof) => Promise<Address>;
};

export async function startOracleStack(env: StackOptions["env"] = oracleEnv): Promise<TestOracle> {
  const chain = await startChain();
  const { oracle } = chain.deployment;
  if (!oracle) throw new Error("the deployment has no oracle");
  const verifier = oracle.verifyingContract;
  const proxy = await startRpcProxy(chain.url);
  const stack = await startStack({ chain, rpcUrl: proxy.url, services: ["api", "writer"], env });
  const request = await checkedRequests(stack.apiUrl);
  const { headers } = await issueKey(request);
  const signer = () => request("/api/v1/oracle/signer", { headers });
  const sign = (asset: unknown = "BTC") => request("/api/v1/oracle/sign-proof", { headers, body: { asset } });
  await waitFor({
    what: "a writer to publish its signer",
    probe: async () => ((await signer()).status === 200 ? true : undefined),
  });
  return {
    ...{ chain, proxy, stack, request, headers, verifier, signer, sign },
    protocol: openProtocol(chain.deployment, chain.url),
    signInTime: (asset, late = lateCodes) => repeatWhile(late, () => sign(asset)),
    signerOnChain: ({ price, assetBytes32, verifiedAt, signature }) =>
      chain.client.readContract({
        address: verifier,
        abi: priceProofVerifierAbi,
        functionName: "verifyPriceProofEIP712",
        args: [BigInt(price), assetBytes32, BigInt(verifiedAt), signature],
      }),
  };
}

/** The proof in an answer. @throws when it has none */
export function proofOf(answer: HttpAnswer): Proof {
  expect(answer.status, answer.text).toBe(200);
  return proofShape.parse(answer.json);
}

const latestRoundData: Hex = toFunctionSelector("latestRoundData()");

/** Whether a call reads the newest round of a feed. */
export const readsFeed = ({ method, params: [call] }: RpcCall): boolean =>
  method === "eth_call" && JSON.stringify(call ?? null).includes(`"${latestRoundData}"`);

/** Starts a second writer, whose node answers each read of a feed with an error; `asked` resolves at the first. */
export async function startFailingWriter({ chain, stack: { databaseUrl } }: TestOracle) {
  const node = await startRpcProxy(chain.url);
  const asked = new Promise<void>((resolve) => {
    node.intercept(async (call, forward) => {
      if (!readsFeed(call)) return forward();
      resolve();
      return { error: { code: -32000, message: "internal" } };
    });
  });
  const options = { chain, rpcUrl: node.url, databaseUrl, env: oracleEnv };
  return { asked, second: await startStack({ ...options, services: ["writer"] }) };
}

/** Records a request as the api does; it stays new for as long as a slow machine takes. @returns its id */
export async function newRequest({ sql }: Connection): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`
    insert into service.price_proof (chain_id, asset, created_at) values (8453, 'BTC', now() + interval '1 hour')
    returning id`;
  return row?.id;
}

/** A request's row once a writer has answered it. */
export const answered = ({ sql }: Connection, id = "") =>
  waitFor({
    what: "the request to be answered",
    probe: async () => {
      const rows = await sql`
        select state, signer from service.price_proof where id = ${id} and state <> 'pending'`;
      return rows[0];
    },
  });

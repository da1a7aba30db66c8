/**
 * The node's side of a fork, at two paths of one address. Anvil asks the forked node through `upstreamUrl`: at the node's rate, and only
 * for what no earlier start has asked. The indexer asks anvil through `indexerUrl`, but for the history, because anvil keeps each block
 * that it passes on in memory.
 */
import { createServer, type IncomingMessage } from "node:http";
import { json } from "node:stream/consumers";
import { BaseError, hexToBigInt, numberToHex, RpcRequestError } from "viem";
import { z } from "zod";
import { errorText } from "../../lib/log.ts";
import { type History, parseLogRequest } from "./history.ts";
import type { KeptAnswers } from "./kept-answers.ts";
import type { Call, Upstream } from "./upstream.ts";

const callShape = z.object({ id: z.unknown(), method: z.string(), params: z.unknown().optional() });
const requestShape = z.union([callShape, z.array(callShape)]);
const answerShape = z.union([z.object({ error: z.unknown() }), z.object({ result: z.unknown() })]);
const blockParams = z.tuple([z.templateLiteral(["0x", z.string()]), z.literal(true)]);
type Answer = z.output<typeof answerShape>;
type Ask = (call: Call) => Promise<Answer>;

export type NodeServerOptions = {
  readonly upstream: Upstream;
  readonly kept: () => KeptAnswers;
  /** Undefined until it was read. */
  readonly history: () => History | undefined;
  readonly anvilUrl: string;
};

/** JSON-RPC's codes of a method that the node lacks, and of an error inside it. */
const METHOD_NOT_FOUND = -32_601;
const INTERNAL = -32_603;

function errorOf(error: unknown): { code: number; message: string; data?: unknown } {
  const cause = error instanceof BaseError ? error.walk((one) => one instanceof RpcRequestError) : null;
  if (cause instanceof RpcRequestError) return { code: cause.code, message: cause.details, data: cause.data };
  return { code: INTERNAL, message: `the forked node does not answer: ${errorText(error)}` };
}

/** Passes a call on as it is. */
const passOn =
  (url: string): Ask =>
  async (call) => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, ...call });
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    return answerShape.parse(await response.json());
  };

/** Answers a call for logs from the history, and asks for those of later blocks; undefined if the history does not have all. */
async function logsOf(
  history: History | undefined,
  { method, params }: Call,
  ask: Ask,
): Promise<Answer | undefined> {
  const filter = method === "eth_getLogs" ? parseLogRequest(params) : undefined;
  const logs = filter && history?.logs(filter);
  if (!history || !filter || !logs) return undefined;
  const { to } = history.range;
  if (hexToBigInt(filter.toBlock) <= to) return { result: logs };
  if (hexToBigInt(filter.fromBlock) > to) return undefined;
  const later = await ask({ method, params: [{ ...filter, fromBlock: numberToHex(to + 1n) }] });
  const found = z.object({ result: z.array(z.unknown()) }).safeParse(later).data;
  return found ? { result: [...logs, ...found.result] } : later;
}

function blockOf(history: History | undefined, { method, params }: Call): Answer | undefined {
  const number = method === "eth_getBlockByNumber" ? blockParams.safeParse(params).data?.[0] : undefined;
  const block =
    number === undefined || !/^0x[0-9a-f]+$/.test(number) ? undefined : history?.block(hexToBigInt(number));
  return block && { result: block };
}

/** Starts the server on a free port of this machine. */
export async function startNodeServer({ upstream, kept, history, anvilUrl }: NodeServerOptions) {
  const askUpstream: Ask = async (call) => {
    // Few nodes have it, and anvil would ask one start's questions in the other form at the next, which then are not kept.
    if (call.method === "eth_getAccountInfo")
      return { error: { code: METHOD_NOT_FOUND, message: "not supported" } };
    try {
      return { result: await kept().get(call, (asked) => upstream.request(asked)) };
    } catch (error) {
      return { error: errorOf(error) };
    }
  };
  const askAnvil = passOn(anvilUrl);
  const paths: Readonly<Record<string, Ask>> = {
    "/upstream": async (call) => (await logsOf(history(), call, askUpstream)) ?? askUpstream(call),
    "/indexer": async (call) =>
      (await logsOf(history(), call, askAnvil)) ?? blockOf(history(), call) ?? askAnvil(call),
  };

  async function answerTo(request: IncomingMessage): Promise<unknown> {
    const ask = paths[request.url ?? ""];
    const calls = requestShape.parse(await json(request));
    const answer = async ({ id, ...call }: z.output<typeof callShape>) => {
      if (!ask) throw new Error(`no path ${request.url}`);
      return { jsonrpc: "2.0", id, ...(await ask(call)) };
    };
    return Array.isArray(calls) ? Promise.all(calls.map(answer)) : answer(calls);
  }

  const server = createServer((request, response) => {
    answerTo(request)
      .catch((error: unknown) => ({ jsonrpc: "2.0", id: null, error: errorOf(error) }))
      .then((answer) => response.setHeader("content-type", "application/json").end(JSON.stringify(answer)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  const url = `http://127.0.0.1:${address.port}`;
  return {
    upstreamUrl: `${url}/upstream`,
    indexerUrl: `${url}/indexer`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/**
 * What this proves: whatever an HTTP server answers, each call gets its own answer, or an error within its time limit. An error
 * without an id says nothing about a transaction.
 */
import { createServer, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { createPublicClient, HttpRequestError, ResponseBodyTooLargeError, TimeoutError } from "viem";
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { createReadClient } from "../../../lib/chain/client.ts";
import { isRateLimit } from "../../../lib/chain/rate-limit.ts";
import { toNode } from "../../../scripts/local/to-node.ts";
import { broadcastResultOf } from "../../../workers/relayer/send-round.ts";
import { atEnd } from "../../support/cleanup.ts";

const results = {
  eth_sendRawTransaction: `0x${"ab".repeat(32)}`,
  eth_gasPrice: "0x22",
  eth_blockNumber: "0x1111",
} as const;
const callSchema = z.object({
  id: z.number(),
  method: z.enum(["eth_sendRawTransaction", "eth_gasPrice", "eth_blockNumber"]),
});
type Answer = { id?: unknown; result?: unknown; error?: { code: number; message: string } };
type Respond = (answers: Answer[], response: ServerResponse) => void;

/** A busy machine takes its time; a call that never ends fails the test. */
const PATIENCE_MS = 60_000;
/** For bodies that never end. */
const SHORT_MS = 300;

let url: string;
let respond: Respond;
beforeAll(async () => {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString());
    const calls = z.array(callSchema).parse([body].flat());
    const answers = calls.map(({ id, method }) => ({ jsonrpc: "2.0", id, result: results[method] }));
    response.setHeader("content-type", "application/json");
    respond(answers, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = z.object({ port: z.number() }).parse(server.address());
  url = `http://127.0.0.1:${address.port}`;
  atEnd(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
});

const answering = (change: (answers: Answer[]) => unknown, status = 200): Respond => {
  return (answers, response) => response.writeHead(status).end(JSON.stringify(change(answers)));
};

const open = (options: { timeout?: number; batch?: boolean } = {}) =>
  createReadClient({ chainId: 31337, name: "test" }, url, {
    timeout: PATIENCE_MS,
    retryCount: 0,
    ...options,
  });
type Client = Pick<ReturnType<typeof open>, "request">;

/** The calls of one tick: a transaction, and two reads. */
const callAll = (client: Client) => [
  client.request({ method: "eth_sendRawTransaction", params: ["0x02"] }, { retryCount: 0 }),
  client.request({ method: "eth_gasPrice" }, { retryCount: 0 }),
  client.request({ method: "eth_blockNumber" }, { retryCount: 0 }),
];
const own = Object.values(results);

/** The errors of the calls; a call that got an answer fails the test. */
const errorsOf = (calls: readonly Promise<unknown>[]) =>
  Promise.all(
    calls.map((call) =>
      call.then(
        (answer) => expect.unreachable(`a call got ${JSON.stringify(answer)}`),
        (error: unknown) => error,
      ),
    ),
  );

/** The error of a call that has a request of its own. */
const singleError = async () =>
  (await errorsOf([open({ batch: false }).request({ method: "eth_gasPrice" })]))[0];

const limited = (id: unknown, code = -32016) => ({ id, error: { code, message: "over rate limit" } });

const batchClients: [string, () => Client][] = [
  ["the service", () => open()],
  ["the tools", () => createPublicClient({ transport: toNode(url, { batch: true }) })],
];

describe.each(batchClients)("a batch of %s", (_whose, client) => {
  test.each<[string, (answers: Answer[]) => Answer[]]>([
    ["in order", (answers) => answers],
    ["in another order", ([first, ...others]) => [...others, ...(first ? [first] : [])]],
  ])("each call gets its own answer, %s", async (_order, change) => {
    respond = answering(change);
    expect(await Promise.all(callAll(client()))).toEqual(own);
  });

  test.each<[string, (answers: Answer[]) => unknown]>([
    ["one answer is missing", (answers) => answers.slice(1)],
    ["one answer has the id null", (answers) => answers.with(2, limited(null, -32000))],
    ["one answer has no id", (answers) => answers.with(0, { result: "0x33" })],
    ["two answers have one id", ([first, second]) => [first, second, second]],
    ["one answer has an unknown id", (answers) => answers.with(1, { id: -1, result: "0x33" })],
    ["there is one answer more", (answers) => [...answers, { id: -1, result: "0x33" }]],
    [
      "one answer is null",
      (answers) => answers.with(1, {}).map((one) => (one.id === undefined ? null : one)),
    ],
    ["there is none", () => []],
    ["the answer is an object", ([first]) => first],
    ["the answer is null", () => null],
  ])("no call gets an answer when %s", async (_what, change) => {
    respond = answering(change);
    for (const error of await errorsOf(callAll(client()))) expect(error).toBeInstanceOf(HttpRequestError);
  });
});

test.each<[string, Respond]>([
  ["an object", answering(() => limited(null))],
  ["an object with the code of too many requests or logs", answering(() => limited(null, -32005))],
  ["one answer without a call", answering((answers) => answers.with(1, limited(null)))],
  ["status 429 with an object", answering(() => limited(null), 429)],
])("a rate limit in a batch is known as one: %s", async (_how, limit) => {
  respond = limit;
  expect((await errorsOf(callAll(open()))).map(isRateLimit)).toEqual([true, true, true]);
});

const known = { id: null, error: { code: -32000, message: "already known" } };
test.each<[string, Respond]>([
  ["an object", answering(() => known)],
  ["status 400 with an object", answering(() => known, 400)],
  ["a text", (_answers, response) => response.end("already known")],
  ["one answer without a call", answering((answers) => answers.with(2, known))],
])("only an answer with the transaction's id says that the node has it, not %s", async (_how, answer) => {
  respond = answer;
  const [error] = await errorsOf(callAll(open()));
  expect(broadcastResultOf(error).kind).toBe("unknown");
});

test("calls of two clients in one tick share no request, and so no time limit", async () => {
  const sizes: number[] = [];
  respond = (answers, response) => {
    sizes.push(answers.length);
    answering((all) => all)(answers, response);
  };
  const [one, other] = [open(), open()];
  await Promise.all([...callAll(one), other.request({ method: "eth_gasPrice" })]);
  expect(sizes.sort()).toEqual([1, 3]);
});

describe("a request of one call", () => {
  const price = () => open({ batch: false }).request({ method: "eth_gasPrice" });

  test("gets its answer", async () => {
    respond = answering(([answer]) => answer);
    expect(await price()).toBe(results.eth_gasPrice);
  });

  test.each<[string, unknown]>([
    ["with another id", { id: -1, result: "0x33" }],
    ["with another id and an error", { id: -1, error: { code: -32000, message: "nonce too low" } }],
    ["without an id", { result: "0x33" }],
    ["in an array", [{ id: 0, result: "0x33" }]],
    ["that is null", null],
  ])("does not get an answer %s", async (_what, answer) => {
    respond = answering(() => answer);
    expect(await singleError()).toBeInstanceOf(HttpRequestError);
  });

  test("gets an error without an id, with its code", async () => {
    respond = answering(() => limited(null));
    const error = await singleError();
    expect(error).toMatchObject({ code: -32016 });
    expect(isRateLimit(error)).toBe(true);
  });
});

const endings: [string, Respond][] = [
  ["stalls after the headers", (_answers, response) => response.flushHeaders()],
  ["stalls within the body", (_answers, response) => void response.write("[")],
  [
    "drips",
    async (_answers, response) => {
      for (; !response.destroyed; await sleep(20)) response.write(" ");
    },
  ],
];
describe.each(endings)("a body that %s ends with the call's time limit", (_how, ending) => {
  test.each([true, false])("batch: %s", { timeout: PATIENCE_MS }, async (batch) => {
    respond = ending;
    const call = open({ timeout: SHORT_MS, batch }).request({ method: "eth_gasPrice" });
    expect((await errorsOf([call]))[0]).toBeInstanceOf(TimeoutError);
  });
});

describe.each([true, false])("an error for each call, batch: %s", (batch) => {
  const request = () => errorsOf(callAll(open({ batch })));

  test.each<[string, Respond]>([
    [
      "HTML with status 200",
      (_answers, response) => response.setHeader("content-type", "text/html").end("<p>"),
    ],
    ["no body", (_answers, response) => response.removeHeader("content-type") ?? response.end()],
    ["status 204", (_answers, response) => response.writeHead(204).end()],
    ["half a body", (_answers, response) => response.write("[{", () => response.destroy())],
  ])("%s", async (_what, answer) => {
    respond = answer;
    for (const error of await request()) expect(error).toBeInstanceOf(HttpRequestError);
  });

  test("HTTP errors keep their status", async () => {
    respond = (_answers, response) => response.writeHead(503, { "content-type": "text/plain" }).end("busy");
    for (const error of await request()) expect(error).toMatchObject({ status: 503 });
  });

  test("an endless body", async () => {
    respond = (_answers, response) => {
      const fill = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536, " ")));
      };
      response.on("drain", fill);
      fill();
    };
    for (const error of await request()) expect(error).toBeInstanceOf(ResponseBodyTooLargeError);
  });
});

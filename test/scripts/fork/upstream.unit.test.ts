/** Requests to a node that limits their rate. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { Upstream } from "../../../scripts/fork/upstream.ts";
import { atEnd } from "../../support/cleanup.ts";

type Respond = (response: ServerResponse, id: number) => void;

/** A server that answers the n-th request as told. */
async function nodeThat(respond: (n: number) => Respond): Promise<{ url: string; requests: () => number }> {
  let requests = 0;
  const server = createServer(async (request: IncomingMessage, response) => {
    let body = "";
    for await (const part of request) body += String(part);
    requests += 1;
    respond(requests)(response, JSON.parse(body).id);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  atEnd(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return { url: `http://127.0.0.1:${address.port}`, requests: () => requests };
}

const answer: Respond = (response, id) => {
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ jsonrpc: "2.0", id, result: "0x1" }));
};
const refuse: Respond = (response) => response.writeHead(429, { "retry-after": "1" }).end();
const error =
  (code: number): Respond =>
  (response, id) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ jsonrpc: "2.0", id, error: { code, message: "no" } }));
  };
const call = { method: "eth_blockNumber", params: [] };

test("a request that was refused for the rate is answered later, and the rate is lower then", async () => {
  const { url, requests } = await nodeThat((n) => (n === 1 ? refuse : answer));
  const upstream = new Upstream(url, 10);
  expect(await upstream.request(call)).toBe("0x1");
  expect([requests(), upstream.rate]).toEqual([2, 5]);
});

test("the rate of a node that refuses nothing rises, and a refusal lowers it once", async () => {
  const { url } = await nodeThat((n) => (n > 30 && n <= 34 ? refuse : answer));
  const upstream = new Upstream(url, 20);
  await Promise.all(Array.from({ length: 30 }, () => upstream.request(call)));
  expect(upstream.rate).toBe(40);
  await Promise.all(Array.from({ length: 4 }, () => upstream.request(call)));
  expect(upstream.rate).toBeGreaterThanOrEqual(10);
  expect(upstream.rate).toBeLessThan(40);
});

test("an error of the node is thrown at once, but for too many requests", async () => {
  const refusing = await nodeThat(() => error(-32000));
  await expect(new Upstream(refusing.url).request(call)).rejects.toThrow();
  expect(refusing.requests()).toBe(1);
  const limiting = await nodeThat((n) => (n === 1 ? error(-32005) : answer));
  expect(await new Upstream(limiting.url).request(call)).toBe("0x1");
  const logs = await nodeThat(() => error(-32005));
  await expect(new Upstream(logs.url).request({ method: "eth_getLogs", params: [] })).rejects.toThrow();
  expect(logs.requests()).toBe(1);
});

test("the rate stays near what a node bears that refuses a few requests by chance", async () => {
  const { url } = await nodeThat((n) => (n % 40 === 0 ? refuse : answer));
  const upstream = new Upstream(url, 100);
  await Promise.all(Array.from({ length: 280 }, () => upstream.request(call)));
  expect(upstream.rate).toBeGreaterThan(15);
}, 60_000);

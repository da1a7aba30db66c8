/** Calls to the node, by process and method: in a minute without requests, and for each purchase at a steady rate. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "undici";
import { z } from "zod";
import { freePort } from "../scripts/local/ports.ts";
import type { ServiceName } from "../scripts/local/services.ts";
import { buyAtRate, createBuyers, openBuyers, unlimited } from "./buyers.ts";
import { openNode } from "./raw-transactions.ts";
import { type Finding, report } from "./report.ts";
import { atEnd, withBenchStack } from "./stack.ts";

const IDLE_MS = 60_000;
const PURCHASES = 200;
const PER_SECOND = 10;
const processes: readonly ServiceName[] = ["indexer", "writer", "api"];

const rpcCall = z.object({ method: z.string() });
const rpcBody = z.union([rpcCall.transform((one) => [one]), z.array(rpcCall)]);

export type Meter = { readonly url: string; readonly calls: Map<string, number> };

/** A proxy in front of the node that counts calls by method; each call of a batch counts. */
export async function startMeter(node: string): Promise<Meter> {
  const pool = new Pool(node, { connections: 32, pipelining: 1 });
  const calls = new Map<string, number>();
  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(Buffer.from(chunk));
    const body = Buffer.concat(chunks);
    for (const { method } of rpcBody.parse(JSON.parse(body.toString())))
      calls.set(method, (calls.get(method) ?? 0) + 1);
    const headers = { "content-type": "application/json" };
    const answer = await pool.request({ method: "POST", path: "/", headers, body });
    response.writeHead(answer.statusCode, headers).end(Buffer.from(await answer.body.arrayBuffer()));
  }
  const server = createServer((incoming, response) => {
    serve(incoming, response).catch(() => incoming.socket.destroy());
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  await atEnd(() => {
    server.close();
    server.closeAllConnections();
    return pool.destroy();
  });
  return { url: `http://127.0.0.1:${port}`, calls };
}

export const benchRpc = (): Promise<void> =>
  withBenchStack({}, async (stack) => {
    const node = openNode(stack.chain.url, 100);
    await atEnd(node.close);
    const buyers = await createBuyers(stack, node);
    await node.ask("evm_setIntervalMining", [2]);
    const meters = await Promise.all(
      processes.map(async (name) => ({ name, meter: await startMeter(stack.chain.url) })),
    );
    const more = Object.fromEntries(
      meters.map(({ name, meter }) => [
        name,
        { ...(name === "indexer" ? {} : unlimited[name]), RPC_URL: meter.url },
      ]),
    );
    const services = await stack.startServices(processes, { more });
    /** Counts while `run` runs; each figure is divided by `units`. */
    const count = async (title: string, units: number, run: () => Promise<unknown>): Promise<void> => {
      for (const { meter } of meters) meter.calls.clear();
      await run();
      const findings = meters.flatMap(({ name, meter: { calls } }): Finding[] => [
        { what: name, value: [...calls.values()].reduce((sum, n) => sum + n, 0) / units, unit: "" },
        ...[...calls]
          .sort(([, a], [, b]) => b - a)
          .map(([method, n]) => ({ what: `  ${method}`, value: n / units, unit: "" })),
      ]);
      report(title, findings);
    };
    await count(`rpc: calls in ${IDLE_MS / 1000} s without requests, a block every 2 s`, 1, () =>
      sleep(IDLE_MS),
    );
    const buy = await openBuyers(services, buyers, 100);
    await count(`rpc: calls for each of ${PURCHASES} purchases at ${PER_SECOND} a second`, PURCHASES, () =>
      buyAtRate(buy, 0, PURCHASES, PER_SECOND),
    );
  });

/** The logs of deep blocks are read once, and read anew after a reorganisation that replaces deep blocks. */
import { hexToBigInt } from "viem";
import { beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { WindowSize } from "../../lib/chain/log-scan.ts";
import { createScanClients } from "../../lib/chain/scan-clients.ts";
import { openProtocol, type Protocol } from "../../scripts/local/protocol/actions/index.ts";
import { readLogs, type SettledLogs } from "../../workers/keeper/from-chain/read-policies.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import * as act from "../support/protocol-actions.ts";
import { type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";

let chain: TestChain;
let rpc: RpcProxy;
let protocol: Protocol;

const filterSchema = z.object({ fromBlock: z.custom<`0x${string}`>(), toBlock: z.custom<`0x${string}`>() });

beforeAll(async () => {
  chain = await startChain({ retired: false });
  rpc = await startRpcProxy(chain.url);
  protocol = openProtocol(chain.deployment, chain.url);
});

const settled: SettledLogs = new Map();

/** Reads the sequencer feed's logs up to the newest block. @returns their blocks, and the ranges that the node was asked for */
async function read(kept: SettledLogs, from: bigint) {
  const asked: [bigint, bigint][] = [];
  rpc.intercept(async (call, forward) => {
    if (call.method === "eth_getLogs") {
      const { fromBlock, toBlock } = filterSchema.parse(call.params[0]);
      asked.push([hexToBigInt(fromBlock), hexToBigInt(toBlock)]);
    }
    return forward();
  });
  const { logs: client, reads } = createScanClients(chain.deployment, rpc.url);
  const scan = {
    client,
    reads,
    window: new WindowSize(),
    signal: AbortSignal.timeout(60_000),
    settled: kept,
  };
  const to = await chain.client.getBlockNumber();
  const filter = { address: chain.deployment.contracts.sequencerFeed, topics: [] };
  const logs = await readLogs(scan, filter, { from, to });
  return { found: logs.map(({ blockHash, logIndex }) => `${blockHash} ${logIndex}`), asked, to };
}

async function report(times: number): Promise<void> {
  for (let i = 0; i < times; i++)
    await act.setSequencer(protocol, chain.owner, { down: false, startedAt: BigInt(i + 1) });
}

test("deep blocks are read once; earlier ones that were not read are added", async () => {
  await report(90);
  const first = await read(settled, 20n);
  expect(first.asked).toEqual([[20n, first.to]]);
  await report(3);
  const second = await read(settled, 25n);
  expect(second.asked).toEqual([[first.to - 63n, second.to]]);
  const third = await read(settled, 5n);
  expect(third.asked).toEqual([
    [5n, 19n],
    [second.to - 63n, third.to],
  ]);
  for (const [kept, from] of [
    [second, 25n],
    [third, 5n],
  ] as const)
    expect(kept.found).toEqual((await read(new Map(), from)).found);
});

test("a reorganisation that replaces kept blocks: all is read anew", async () => {
  const before = await read(settled, 5n);
  await chain.client.request<{ Method: "anvil_reorg"; Parameters: [number, never[]]; ReturnType: null }>({
    method: "anvil_reorg",
    params: [70, []],
  });
  const after = await read(settled, 5n);
  expect(after.asked).toEqual([[5n, after.to]]);
  expect(after.found).toEqual((await read(new Map(), 5n)).found);
  expect(after.found.length).toBeLessThan(before.found.length);
});

/** The history of a deployment, as a node with short ranges of logs gives it: read once, kept, and never that of another chain. */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { numberToHex, pad, toEventSelector, zeroAddress } from "viem";
import { expect, inject, test } from "vitest";
import { createReadClient } from "../../../lib/chain/client.ts";
import { WindowSize } from "../../../lib/chain/log-scan.ts";
import { History, type LogRequest, readLogs } from "../../../scripts/fork/history.ts";
import { Upstream } from "../../../scripts/fork/upstream.ts";
import { startChain } from "../../support/chain.ts";
import { askRpc, startRpcProxy } from "../../support/rpc-proxy.ts";

const ZERO = pad(zeroAddress, { size: 32 });

test("all logs up to the block, and their blocks; a second reading asks for what is new; after a reorganisation for that", async () => {
  const { client, deployment, url } = await startChain();
  const node = await startRpcProxy(url);
  node.intercept(async ({ method, params }, forward) => {
    const [range] = params as [{ fromBlock: string; toBlock: string }];
    const isLong = method === "eth_getLogs" && Number(range.toBlock) - Number(range.fromBlock) >= 20;
    return isLong ? { error: { code: -32602, message: "no more than 20 blocks" } } : forward();
  });
  const addresses = [deployment.contracts.coverRouter, deployment.contracts.protocolToken] as const;
  const [router, token] = addresses;
  const transfer = toEventSelector("event Transfer(address indexed from, address indexed to, uint256 value)");
  // Of the token only what it mints and burns, as two filters that overlap.
  const filters = [
    { addresses: [router], topics: [] },
    { addresses: [token], topics: [transfer, ZERO] },
    { addresses: [token], topics: [transfer, null, [ZERO]] },
  ];
  const file = join(inject("runFolder"), `history-${new URL(url).port}.ndjson`);
  const read = async (to: bigint) => {
    const told: bigint[] = [];
    const range = { from: 0n, to };
    const read = await readLogs({
      upstream: new Upstream(node.url, 200),
      client: createReadClient(deployment, node.url, { batch: false }),
      chainId: deployment.chainId,
      ...{ filters, range, window: new WindowSize(), file },
      onProgress: (last) => told.push(last),
    });
    return { history: new History(range, [read]), told };
  };
  const logsOfNode = async (filter: object) => {
    const answer = await askRpc(url, "eth_getLogs", [filter]);
    return "result" in answer ? answer.result : undefined;
  };
  const requestTo = (to: bigint): LogRequest => ({
    ...{ address: router, topics: [], fromBlock: "0x0", toBlock: numberToHex(to) },
  });

  const newest = await client.getBlockNumber();
  const first = await read(newest);
  expect(first.told.at(-1)).toBe(newest);
  const logs = first.history.logs(requestTo(newest));
  expect(logs).toEqual(await logsOfNode(requestTo(newest)));
  expect(logs).not.toEqual([]);
  for (const log of logs ?? []) {
    const block = first.history.block(BigInt(log.blockNumber));
    expect(block?.hash).toBe(log.blockHash);
    expect(block?.transactions.map(({ hash }) => hash)).toContain(log.transactionHash);
  }
  const [event] = logs ?? [];
  const one = { ...requestTo(newest), topics: [event?.topics[0] ?? null] };
  expect(first.history.logs(one)).toEqual(await logsOfNode(one));

  // It answers what its filters have read, and nothing else.
  const mints = { ...requestTo(newest), address: [token], topics: [transfer, ZERO] };
  expect(first.history.logs(mints)).toEqual(await logsOfNode(mints));
  expect(first.history.logs(mints)).not.toEqual([]);
  expect(first.history.logs({ ...mints, topics: [transfer] })).toBeUndefined();
  expect(first.history.logs({ ...mints, address: [token, router] })).toEqual(
    await logsOfNode({ ...mints, address: [token, router] }),
  );
  expect(first.history.logs({ ...one, address: deployment.contracts.usdc })).toBeUndefined();

  const asked = node.counts.get("eth_getLogs");
  expect((await read(newest)).told).toEqual([]);
  expect((await read(newest - 5n)).history.logs(requestTo(newest))).toEqual(
    await logsOfNode(requestTo(newest - 5n)),
  );
  expect(node.counts.get("eth_getLogs")).toBe(asked);

  // A line that was not written whole is read again, with all after it.
  appendFileSync(file, '{"to":"7","hash"');
  expect((await read(newest)).told).toEqual([]);

  const snapshot = await client.snapshot();
  await client.mine({ blocks: 3 });
  await read(newest + 3n);
  await client.revert({ id: snapshot });
  await client.increaseTime({ seconds: 100 });
  await client.mine({ blocks: 4 });
  const again = await read(newest + 4n);
  expect(again.told).toEqual([newest + 4n]);
  expect(again.history.logs(requestTo(newest + 4n))).toEqual(logs);
});

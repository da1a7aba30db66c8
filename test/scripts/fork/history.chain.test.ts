/** The history of a deployment, as a node with short ranges of logs gives it: read once, kept, and never that of another chain. */
import { join } from "node:path";
import { numberToHex } from "viem";
import { expect, inject, test } from "vitest";
import { createReadClient } from "../../../lib/chain/client.ts";
import { WindowSize } from "../../../lib/chain/log-scan.ts";
import { readHistory } from "../../../scripts/fork/history.ts";
import { Upstream } from "../../../scripts/fork/upstream.ts";
import { startChain } from "../../support/chain.ts";
import { askRpc, startRpcProxy } from "../../support/rpc-proxy.ts";

test("all logs up to the block, and their blocks; a second reading asks for what is new; after a reorganisation for that", async () => {
  const { client, deployment, url } = await startChain();
  const node = await startRpcProxy(url);
  node.intercept(async ({ method, params }, forward) => {
    const [range] = params as [{ fromBlock: string; toBlock: string }];
    const isLong = method === "eth_getLogs" && Number(range.toBlock) - Number(range.fromBlock) >= 20;
    return isLong ? { error: { code: -32602, message: "no more than 20 blocks" } } : forward();
  });
  const addresses = [deployment.contracts.coverRouter, deployment.contracts.protocolToken];
  const file = join(inject("runFolder"), `history-${new URL(url).port}.ndjson`);
  const read = async (to: bigint) => {
    const told: bigint[] = [];
    const history = await readHistory({
      upstream: new Upstream(node.url, 200),
      client: createReadClient(deployment, node.url, { batch: false }),
      chainId: deployment.chainId,
      ...{ addresses, range: { from: 0n, to }, window: new WindowSize(), file },
      onProgress: (last) => told.push(last),
    });
    return { history, told };
  };
  const filterTo = (to: bigint) =>
    ({ address: addresses, topics: [], fromBlock: "0x0", toBlock: numberToHex(to) }) as const;
  const logsOfNode = async (filter: object) => {
    const answer = await askRpc(url, "eth_getLogs", [filter]);
    return "result" in answer ? answer.result : undefined;
  };
  const onChain = (to: bigint) => logsOfNode(filterTo(to));

  const newest = await client.getBlockNumber();
  const first = await read(newest);
  expect(first.told.at(-1)).toBe(newest);
  const logs = first.history.logs({ ...filterTo(newest), address: [...addresses], topics: [] });
  expect(logs).toEqual(await onChain(newest));
  expect(logs).not.toEqual([]);
  for (const log of logs ?? []) {
    const block = first.history.block(BigInt(log.blockNumber));
    expect(block?.hash).toBe(log.blockHash);
    expect(block?.transactions.map(({ hash }) => hash)).toContain(log.transactionHash);
  }
  const [first0] = logs ?? [];
  const one = {
    address: addresses,
    topics: [first0?.topics[0] ?? null],
    fromBlock: "0x0",
    toBlock: numberToHex(newest),
  } as const;
  expect(first.history.logs({ ...one, address: [...addresses], topics: [...one.topics] })).toEqual(
    await logsOfNode(one),
  );
  // It does not know the others' logs.
  expect(first.history.logs({ ...one, address: deployment.contracts.usdc, topics: [] })).toBeUndefined();

  const asked = node.counts.get("eth_getLogs");
  expect((await read(newest)).told).toEqual([]);
  expect((await read(newest - 5n)).history.logs({ ...one, address: [...addresses], topics: [] })).toEqual(
    await onChain(newest - 5n),
  );
  expect(node.counts.get("eth_getLogs")).toBe(asked);

  const snapshot = await client.snapshot();
  await client.mine({ blocks: 3 });
  await read(newest + 3n);
  await client.revert({ id: snapshot });
  await client.increaseTime({ seconds: 100 });
  await client.mine({ blocks: 4 });
  const again = await read(newest + 4n);
  expect(again.told).toEqual([newest + 4n]);
  expect(again.history.logs({ ...filterTo(newest + 4n), address: [...addresses], topics: [] })).toEqual(logs);
});

/** How long the writer waits for a head that is late enough, on a chain whose clock is not the real one. */
import { beforeAll, expect, test } from "vitest";
import { openChain } from "../../workers/relayer/chain.ts";
import { laterHead } from "../../workers/relayer/recovery/later-head.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { startRpcProxy } from "../support/rpc-proxy.ts";

let chain: TestChain;
beforeAll(async () => {
  // It mines nothing by itself, and its clock stays in the year 2020.
  chain = await startChain({ timestamp: 1_577_836_800n });
});

const ago = (ms: number) => performance.now() - ms;

/** The same chain behind a node that is no anvil. */
async function openOther() {
  const proxy = await startRpcProxy(chain.url);
  proxy.intercept(async ({ method }, forward) =>
    method === "web3_clientVersion" ? { result: "Geth/v1" } : forward(),
  );
  return openChain(chain.deployment, proxy.url);
}

test("a local chain in the past is waited for some seconds, and not for ever", async () => {
  const local = openChain(chain.deployment, chain.url);
  expect(await laterHead(local, ago(0))).toBeUndefined();
  expect(await laterHead(local, ago(10_000))).toMatchObject({ number: await chain.client.getBlockNumber() });
});

test("a node of another chain that is in the past is waited for however long that takes", async () => {
  expect(await laterHead(await openOther(), ago(3_600_000))).toBeUndefined();
});

test("a head that is later than the moment is taken, and no earlier one", async () => {
  const { timestamp } = await chain.client.getBlock();
  const other = await openOther();
  const begin = Number(timestamp) * 1000;
  expect(await laterHead(other, ago(Date.now() - (begin - 1000)))).toMatchObject({ timestamp });
  expect(await laterHead(other, ago(Date.now() - (begin + 1000)))).toBeUndefined();
});

/**
 * Answers of the node about heads that come too late. What this proves: a late answer is no reorganisation, so the index never goes back
 * to a lower block; and a head that a reorganisation takes away before its logs are read is given up soon.
 */
import { beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { waitFor } from "../../scripts/local/wait.ts";
import { openRows } from "../src/support/rows.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { atEnd } from "../support/cleanup.ts";
import { askRpc, type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";
import { type Stack, startStack } from "../support/stack.ts";

const LATE_ANSWERS = 3;
const answerSchema = z.object({ result: z.object({ number: z.string() }) });
const logsOfBlock = z.tuple([z.object({ blockHash: z.string() })]);

let chain: TestChain;
let proxy: RpcProxy;
let stack: Stack;
let head: () => Promise<number>;

beforeAll(async () => {
  chain = await startChain({ blockTime: 1, mixedMining: true });
  proxy = await startRpcProxy(chain.url);
  stack = await startStack({ chain, services: ["indexer"], rpcUrl: proxy.url });
  const rows = openRows(stack.databaseUrl);
  atEnd(rows.close);
  head = async () => {
    const [row] = await rows.sql<{ number: string }[]>`select number::text from indexer.head`;
    return Number(row?.number ?? -1);
  };
  await waitFor({ what: "an indexed block", probe: async () => (await head()) > 0 || undefined });
});

test("an answer with an older block takes no block back", async () => {
  let late = 0;
  let holding = false;
  proxy.intercept(async (call, forward) => {
    const answer = await forward();
    const isPoll = call.method === "eth_getBlockByNumber" && call.params[0] === "latest";
    if (!isPoll || holding || late === LATE_ANSWERS) return answer;
    holding = true;
    const number = Number(answerSchema.parse(answer).result.number);
    await waitFor({ what: "a newer block", probe: async () => (await head()) > number || undefined });
    late += 1;
    holding = false;
    return answer;
  });
  const heads: number[] = [];
  let end: number | undefined;
  await waitFor({
    what: "the index to go on after the last late answer",
    probe: async () => {
      const newest = await head();
      heads.push(newest);
      if (late < LATE_ANSWERS) return undefined;
      // It is handled by the time of two more blocks.
      end ??= newest + 2;
      return newest >= end || undefined;
    },
    intervalMs: 5,
  });
  expect(heads).toEqual(heads.toSorted((a, b) => a - b));
  expect(stack.output("indexer")).not.toContain("Reorged block");
});

test("a head that is reorganised away before its logs are read is asked for four times, and the index goes on", async () => {
  const asked: string[] = [];
  let reorganised: Promise<unknown> | undefined;
  proxy.intercept(async (call, forward) => {
    const [filter] = (call.method === "eth_getLogs" && logsOfBlock.safeParse(call.params).data) || [];
    if (filter) {
      asked.push(filter.blockHash);
      reorganised ??= askRpc(chain.url, "anvil_reorg", [2, []]);
      await reorganised;
    }
    return forward();
  });
  await expect.poll(() => reorganised).toBeDefined();
  const [orphan] = asked;
  const tries = () => asked.filter((hash) => hash === orphan).length;
  const newest = Number(await chain.client.getBlockNumber());
  await expect.poll(head).toBeGreaterThan(newest);
  expect(tries()).toBe(4);
  proxy.intercept();
});

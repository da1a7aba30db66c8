/**
 * The node answers some of the indexer's polls only once a newer block is indexed, as on a busy machine or behind a slow network.
 * What this proves: the late answer is no reorganisation, so the index never goes back to a lower block.
 */
import { expect, test } from "vitest";
import { z } from "zod";
import { waitFor } from "../../scripts/local/wait.ts";
import { openRows } from "../src/support/rows.ts";
import { startChain } from "../support/chain.ts";
import { atEnd } from "../support/cleanup.ts";
import { startRpcProxy } from "../support/rpc-proxy.ts";
import { startStack } from "../support/stack.ts";

const LATE_ANSWERS = 3;
const answerSchema = z.object({ result: z.object({ number: z.string() }) });

test("an answer with an older block takes no block back", async () => {
  const chain = await startChain({ blockTime: 1, mixedMining: true });
  const proxy = await startRpcProxy(chain.url);
  const stack = await startStack({ chain, services: ["indexer"], rpcUrl: proxy.url });
  const rows = openRows(stack.databaseUrl);
  atEnd(rows.close);
  const head = async () => {
    const [row] = await rows.sql<{ number: string }[]>`select number::text from indexer.head`;
    return Number(row?.number ?? -1);
  };
  await expect.poll(head).toBeGreaterThan(0);

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

/** The search for the first block after a time, where a policy's cover ends. */
import fc from "fast-check";
import { keccak256, toHex } from "viem";
import { expect, test } from "vitest";
import type { Block } from "../../workers/outbox/event.ts";
import { firstBlockAfter } from "../../workers/outbox/read-block.ts";

const blockAt = (number: bigint, timestamp: bigint): Block => ({
  ...{ number, timestamp },
  hash: keccak256(toHex(number)),
});

test("finds the first block after a time, with a logarithmic number of requests", async () => {
  const steps = fc.array(fc.bigInt(0n, 20n), { minLength: 2, maxLength: 300 });
  await fc.assert(
    fc.asyncProperty(steps, fc.nat(), async (gaps, pick) => {
      let time = 0n;
      const chain = gaps.map((gap, number) => {
        time += gap;
        return blockAt(BigInt(number), time);
      });
      const [low, high] = [chain[0], chain.at(-1)];
      if (!low || !high || high.timestamp === low.timestamp) return;
      const wanted = low.timestamp + (BigInt(pick) % (high.timestamp - low.timestamp));
      let requests = 0;
      const found = await firstBlockAfter(wanted, low.number, high, async (number) => {
        requests += 1;
        return chain[Number(number)];
      });
      expect(found).toEqual(chain.find(({ timestamp }) => timestamp > wanted));
      expect(requests).toBeLessThanOrEqual(2 * Math.ceil(Math.log2(chain.length)) + 1);
    }),
  );
});

test("finds nothing when the node lacks a block", async () => {
  expect(await firstBlockAfter(5n, 0n, blockAt(100n, 200n), async () => undefined)).toBeUndefined();
});

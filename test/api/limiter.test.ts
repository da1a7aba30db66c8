import { expect, test } from "vitest";
import { countInMemory, MAX_CLIENTS } from "../../api/limits/counters.ts";
import { createLimiter } from "../../api/limits/limiter.ts";

function limiter() {
  const window = { name: "test", limit: 2, seconds: 60 };
  return createLimiter({ window, redis: undefined, own: countInMemory(window), onRedisError: () => {} });
}

test("a look at the standing counts nothing, and tells whether the next request would be refused", async () => {
  const { consume, peek } = limiter();
  expect(await peek("a")).toEqual({ limit: 2, remaining: 2, resetSeconds: 60, exceeded: false });
  await consume("a");
  expect(await peek("a")).toMatchObject({ remaining: 1, exceeded: false });
  expect(await consume("a")).toMatchObject({ remaining: 0, exceeded: false });
  expect(await peek("a")).toMatchObject({ remaining: 0, exceeded: true });
  expect(await consume("a")).toMatchObject({ remaining: 0, exceeded: true });
  expect(await peek("b")).toMatchObject({ remaining: 2, exceeded: false });
});

test("so many clients are remembered and no more; the one that came first starts afresh", async () => {
  const { consume, peek } = limiter();
  await consume("first");
  await consume("second");
  for (let i = 2; i < MAX_CLIENTS; i += 1) await consume(`client ${i}`);
  expect([(await peek("first")).remaining, (await peek("second")).remaining]).toEqual([1, 1]);
  await consume("one too many");
  expect([(await peek("first")).remaining, (await peek("second")).remaining]).toEqual([2, 1]);
});

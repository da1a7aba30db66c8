/**
 * A job only wakes the writer. What this proves: an emptied or unreachable queue loses no purchase and buys none twice,
 * and a hundred purchases at once need at most two node calls each.
 */
import { Redis } from "ioredis";
import { expect, test } from "vitest";
import { mineEverySecond, startChain } from "../support/chain.ts";
import { freshDatabase } from "../support/database.ts";
import { isSimulation, newBuyer, openLedger, policiesOnChain, purchaseRequest } from "../support/ledger.ts";
import { describeWithRedis, freshRedis } from "../support/redis.ts";
import { startStack } from "../support/stack.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";
import { isSending } from "./support/testnet-faults.ts";
import { startWriterSetup } from "./support/writer-setup.ts";

test("a hundred purchases at once need at most two node calls each", async () => {
  const { chain, proxy, stack, ledger } = await startWriterSetup();
  const buyer = await newBuyer(chain);
  await mineEverySecond(chain); // and no other blocks
  // On a slow machine the writer polls more often and sends bytes again: only each purchase's own calls count.
  let simulations = 0;
  const sent = new Set<unknown>();
  proxy.intercept(async (call, forward) => {
    if (isSimulation(call)) simulations += 1;
    if (isSending(call)) sent.add(call.params[0]);
    return forward();
  });
  const ids = await Promise.all(
    Array.from({ length: 100 }, (_, n) => ledger.buy(purchaseRequest(buyer.address), `hundred-${n}`)),
  );
  await Promise.all(ids.map((id) => ledger.settled(id)));
  expect(await policiesOnChain(chain, buyer.address)).toHaveLength(100);
  expect(simulations + sent.size).toBeLessThanOrEqual(200);
  await stack.stop();
});

describeWithRedis("with Redis", () => {
  test("Redis is emptied and goes away: every purchase is made once", async () => {
    const chain = await startChain({ blockTime: 1, mixedMining: true });
    const redis = await freshRedis();
    const proxy = await startTcpProxy(redis.url);
    const databaseUrl = await freshDatabase();
    const env = { writer: { REDIS_URL: proxy.url } };
    const stack = await startStack({ chain, databaseUrl, services: ["writer"], env });
    const ledger = await openLedger(chain, { databaseUrl, redisUrl: proxy.url });
    const buyer = await newBuyer(chain);
    const buy = (key: string) => ledger.buy(purchaseRequest(buyer.address), key);
    const several = (name: string) => Promise.all([1, 2, 3, 4, 5].map((n) => buy(`${name}-${n}`)));

    const ids = [await buy("served")];
    await Promise.all(ids.map((id) => ledger.settled(id)));

    // The jobs are deleted before a writer sees them.
    await stack.stopService("writer");
    ids.push(...(await several("emptied")));
    const client = new Redis(redis.url);
    expect(await client.dbsize()).toBeGreaterThan(0);
    await client.flushall();
    await client.quit();
    await stack.start("writer");
    await Promise.all(ids.map((id) => ledger.settled(id)));

    await proxy.cut();
    ids.push(...(await several("away")));
    await Promise.all(ids.map((id) => ledger.settled(id)));

    await proxy.mend();
    ids.push(...(await several("back")));
    await Promise.all(ids.map((id) => ledger.settled(id)));
    const policies = await policiesOnChain(chain, buyer.address);
    expect(policies).toHaveLength(ids.length);
    expect(new Set(policies.map((policy) => policy.transactionHash)).size).toBe(ids.length);
    await stack.stop();
  });
});

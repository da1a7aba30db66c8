/**
 * A database loses its last commits, and a private pool still has signed bytes of them. For each nonce its builder mines the old bytes or
 * the new ones. What this proves: each key has one policy on the chain, and its client gets that one.
 */
import { type Hex, isHex, keccak256, parseTransaction, recoverTransactionAddress } from "viem";
import { beforeAll, expect, test } from "vitest";
import { type OwnPostgres, startOwnPostgres } from "../support/own-postgres.ts";
import { askRpc, type Interceptor } from "../support/rpc-proxy.ts";
import { expectNoFalseFailures, expectOnePolicyPerKey } from "./support/assertions.ts";
import { buyAll, type PurchaseSetup, policiesByKey, startPurchaseSetup } from "./support/purchase-setup.ts";

const KEYS = 6;

let postgres: OwnPostgres;
let setup: PurchaseSetup;

beforeAll(async () => {
  postgres = await startOwnPostgres("purchases");
  setup = await startPurchaseSetup({
    buyers: 2,
    databaseUrl: postgres.databaseUrl,
    env: { writer: { CONFIRMATIONS: "10" } },
  });
});

async function whileStopped(work: () => Promise<void> | void): Promise<void> {
  await setup.stack.stopService("writer");
  await postgres.stop();
  await work();
  await postgres.start();
  await setup.stack.start("writer");
}

/** The bytes that a pool has, by their sender and nonce, the oldest first. */
type Pool = Map<string, { nonce: number; forms: Hex[] }>;

/** A pool that takes all bytes and tells of none. */
const hold =
  (pool: Pool): Interceptor =>
  async (call, forward) => {
    const [bytes] = call.params;
    if (call.method !== "eth_sendRawTransaction" || !isHex(bytes)) return forward();
    const sender = await recoverTransactionAddress({ serializedTransaction: bytes as `0x02${string}` });
    const nonce = parseTransaction(bytes).nonce ?? 0;
    const slot = pool.get(`${sender} ${nonce}`) ?? { nonce, forms: [] };
    if (!slot.forms.includes(bytes)) slot.forms.push(bytes);
    pool.set(`${sender} ${nonce}`, slot);
    return { result: keccak256(bytes) };
  };

test.each([
  ["those of the lost purchases for each second nonce", (nonce: number) => nonce % 2 === 0],
  ["those of the lost purchases", () => true],
  ["the new ones", () => false],
] as const)("the builder takes %s", async (name, takesOld) => {
  await whileStopped(() => postgres.copy(name));
  const fromBlock = (await setup.chain.client.getBlockNumber()) + 1n;
  // Then the fence of that start of the server is mined, too.
  const mined = await buyAll(setup, `mined ${name}`, KEYS);
  const old: Pool = new Map();
  setup.proxy.intercept(hold(old));
  const buying = buyAll(setup, name, KEYS);
  // Not lost without a word, if the test fails before it waits for them.
  buying.catch(() => {});
  await expect.poll(() => old.size, { timeout: 60_000 }).toBe(KEYS);
  const fresh: Pool = new Map();
  await whileStopped(async () => {
    await postgres.putBack(name);
    setup.proxy.intercept(hold(fresh));
  });
  // The service has used their nonces again.
  await expect
    .poll(() => [...old.keys()].filter((slot) => !fresh.has(slot)), { timeout: 60_000 })
    .toEqual([]);
  for (const [slot, { nonce, forms }] of [...old].sort(([, a], [, b]) => a.nonce - b.nonce)) {
    const bytes = takesOld(nonce) ? forms.at(-1) : fresh.get(slot)?.forms.at(-1);
    await askRpc(setup.chain.url, "eth_sendRawTransaction", [bytes]);
  }
  setup.proxy.intercept();
  const bought = [...(await buyAll(setup, `mined ${name}`, KEYS)), ...(await buying)];
  await expectOnePolicyPerKey(setup, bought, fromBlock);
  expect(policiesByKey(bought).slice(0, KEYS)).toEqual(policiesByKey(mined));
  // The old bytes can no longer be mined.
  for (const { forms } of old.values())
    for (const bytes of forms)
      await askRpc(setup.chain.url, "eth_sendRawTransaction", [bytes]).catch(() => {});
  await setup.chain.client.mine({ blocks: 1 });
  await expectOnePolicyPerKey(setup, bought, fromBlock);
  await expectNoFalseFailures(setup);
});

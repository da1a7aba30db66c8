/**
 * The chain forgets blocks in which a claim was paid. What this proves, counted on the chain: both transfers are in it
 * again, each once and by the same bytes, and nobody is paid anew meanwhile.
 */
import type { Hex } from "viem";
import { afterEach, beforeAll, expect, test } from "vitest";
import { waitFor } from "../../scripts/local/wait.ts";
import { mineEverySecond, mineOnlyTransactions } from "../support/chain.ts";
import { askRpc } from "../support/rpc-proxy.ts";
import { claim, claimPatiently, expectPaidOnce, NOTHING, paidOnChain } from "./support/faucet-truth.ts";
import { isSending } from "./support/strikes.ts";
import { type Newcomer, newcomer, startTestnetWorld, type TestnetWorld } from "./support/testnet-world.ts";

const CONFIRMATIONS = 10;
const DEPTH = 5;

let world: TestnetWorld;
beforeAll(async () => {
  world = await startTestnetWorld({
    parts: "faucet",
    env: { writer: { CONFIRMATIONS: String(CONFIRMATIONS) } },
  });
});
afterEach(() => world.proxy.intercept());

/** A claim that was paid in one of the newest blocks, and that nobody can send again for now; no other block comes by itself. */
async function paid(): Promise<{ who: Newcomer; bytes: Hex[] }> {
  const { testnet, proxy, connection } = world;
  await testnet.client.mine({ blocks: DEPTH }); // so that nothing else falls out of the chain
  await mineOnlyTransactions(testnet);
  const who = newcomer();
  const { granted } = await claimPatiently(world, who);
  proxy.intercept(async (call, forward) => (isSending(call) ? "lost" : forward()));
  const rows = await connection.sql<{ signed: Hex }[]>`
    select a.signed from service.attempt a join service.transaction t on t.id = a.transaction_id
    where a.hash = any(${[granted.ethTxHash, granted.usdcTxHash]}::text[]) order by t.nonce`;
  return { who, bytes: rows.map(({ signed }) => signed) };
}

/** Replaces the newest blocks by others that hold these bytes alone, and lets the chain go on. */
async function reorganise(bytes: readonly Hex[]): Promise<void> {
  const { testnet } = world;
  const pairs = bytes.map((one) => [one, 1]);
  expect(await askRpc(testnet.url, "anvil_reorg", [DEPTH, pairs])).toEqual({ result: null });
  await mineEverySecond(testnet);
  await testnet.client.mine({ blocks: 1 });
}

const states = (who: Newcomer) => world.connection.sql<{ purpose: string; state: string }[]>`
  select e.purpose, e.state from service.errand e join service.faucet_claim c on c.id = e.claim_id
  where c.wallet = ${who.wallet.toLowerCase()} order by e.purpose`;

const inStates = (who: Newcomer, wanted: RegExp) =>
  waitFor({
    what: `the transfers to be ${wanted}`,
    probe: async () => {
      const found = (await states(who)).map(({ state }) => state).join(" ");
      return wanted.test(found) ? true : undefined;
    },
    timeoutMs: 60_000,
  });

/** Both transfers stand in the chain, each once, where the books say. */
async function expectStanding(who: Newcomer): Promise<void> {
  await expectPaidOnce(world, [who.wallet]);
  expect((await states(who)).map(({ state }) => state)).toEqual(["confirmed", "confirmed"]);
  // Not always the hashes that were told: whoever waits for its block long enough is given a higher fee.
  const rows = await world.connection.sql<{ hash: Hex; block: Hex }[]>`
    select e.tx_hash as hash, e.block_hash as block from service.errand e join service.faucet_claim c on c.id = e.claim_id
    where c.wallet = ${who.wallet.toLowerCase()}`;
  expect(rows).toHaveLength(2);
  for (const { hash, block } of rows) {
    const receipt = await world.testnet.client.getTransactionReceipt({ hash });
    expect([receipt.status, receipt.blockHash]).toEqual(["success", block]);
  }
}

test("both fall out: neither is paid, nobody else's claim is, and both are sent again", async () => {
  const { who } = await paid();
  await reorganise([]);
  expect(await paidOnChain(world, who.wallet)).toEqual(NOTHING);
  await inStates(who, /^(signed|broadcast) (signed|broadcast)$/);
  // What was told stands: the wallet has had its grant.
  expect((await claim(world, who)).status).toBe(429);
  world.proxy.intercept();
  await expectStanding(who);
});

test("one of the two falls out: it alone is sent again", async () => {
  const { who, bytes } = await paid();
  await reorganise(bytes.slice(0, 1));
  await inStates(who, /broadcast|signed/);
  world.proxy.intercept();
  await expectStanding(who);
});

test("both are included again in another block: nothing is sent, and the books name that block", async () => {
  const { who, bytes } = await paid();
  await reorganise(bytes);
  await expectStanding(who);
});

test("both fall out while the writer is dead: it finds that out when it is back", async () => {
  const { who } = await paid();
  await world.stack.kill9("writer");
  await reorganise([]);
  world.proxy.intercept();
  await world.stack.start("writer");
  await expectStanding(who);
});

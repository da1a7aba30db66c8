/**
 * Reports while the chain is reorganised, and while node or index fail. What this proves: no answer shows a record of a block
 * that the chain has replaced, and no failure of the node makes a transaction unknown.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Hex } from "viem";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { failure, messageOf } from "../api/support/api.ts";
import {
  alice,
  bob,
  type Call,
  owner,
  type ReportSetup,
  reportIdOf,
  sendCall,
  startReports,
  useUpWeek,
} from "../api/support/reports.ts";
import * as act from "../support/protocol-actions.ts";
import { askRpc, HttpFault, type Interceptor } from "../support/rpc-proxy.ts";

let setup: ReportSetup;
beforeAll(async () => {
  setup = await startReports();
});
afterEach(async () => {
  setup.node.intercept();
  await setup.chain.client.setAutomine(true);
});

const redeemed = (amount: bigint) =>
  sendCall(setup.protocol, alice, setup.calls.redeem(setup.matured, amount));
const report = (hash: Hex, amount: bigint) =>
  setup.report("redeem", alice.address, setup.bodies.redemption(hash, amount));

/** A signed call of Alice's, which can be sent again after a reorganisation. */
async function signed({ to, data }: Call): Promise<Hex> {
  const { client, deployment } = setup.chain;
  const [nonce, { baseFeePerGas }] = await Promise.all([
    client.getTransactionCount({ address: alice.address }),
    client.getBlock(),
  ]);
  return alice.signTransaction({
    ...{ type: "eip1559", chainId: deployment.chainId, nonce, to, data, gas: 1_000_000n },
    ...{ maxFeePerGas: (baseFeePerGas ?? 0n) * 2n + 1_000_000n, maxPriorityFeePerGas: 1_000_000n },
  });
}

const dropBlocks = async (count: number) =>
  expect(await askRpc(setup.chain.url, "anvil_reorg", [count, []])).toEqual({ result: null });

describe("a reorganisation", () => {
  test("drops a recorded redemption: unknown, then pending, then recorded in its new block", async () => {
    const { client } = setup.chain;
    const bytes = await signed(setup.calls.redeem(setup.matured, 100n));
    const hash = await client.sendRawTransaction({ serializedTransaction: bytes });
    await client.waitForTransactionReceipt({ hash });
    const first = await report(hash, 100n);
    expect(first.status, first.text).toBe(200);
    const id = reportIdOf(first);

    await client.setAutomine(false);
    await dropBlocks(1);
    expect(failure(await report(hash, 100n))).toEqual([404, "tx_not_found"]);
    expect(failure(await setup.read(alice.address, id))).toEqual([404, "tx_not_found"]);

    await client.sendRawTransaction({ serializedTransaction: bytes });
    const pending = await report(hash, 100n);
    expect([pending.status, reportIdOf(pending)]).toEqual([202, id]);
    await client.mine({ blocks: 1 });
    const { blockHash, blockNumber } = await client.getTransactionReceipt({ hash });
    const again = await report(hash, 100n);
    expect(again.json).toMatchObject({ reportId: id, blockHash, blockNumber: Number(blockNumber) });
    expect(first.json).not.toMatchObject({ blockHash });
    expect((await setup.read(alice.address, id)).json).toMatchObject({
      status: "recorded",
      redemption: again.json,
    });
  });

  test("makes a recorded redemption revert: tx_reverted instead of the old record", async () => {
    const { protocol, chain } = setup;
    const { client } = chain;
    const bytes = await signed(setup.calls.redeem(setup.matured, 1_000n));
    const hash = await client.sendRawTransaction({ serializedTransaction: bytes });
    await client.waitForTransactionReceipt({ hash });
    const first = await report(hash, 1_000n);
    expect(first.status, first.text).toBe(200);
    await dropBlocks(1);
    await act.setPriceStale(protocol, owner, true);
    await client.sendRawTransaction({ serializedTransaction: bytes });
    await client.waitForTransactionReceipt({ hash });
    const answer = await report(hash, 1_000n);
    await act.setPriceStale(protocol, owner, false);
    expect(failure(answer)).toEqual([422, "tx_reverted"]);
    expect(messageOf(answer)).toMatch(/: ORACLE_UNAVAILABLE$/);
    expect(failure(await setup.read(alice.address, reportIdOf(first)))).toEqual([422, "tx_reverted"]);
  });
});

describe("a node that fails", () => {
  const away: Interceptor = async () => "lost";
  const erring: Interceptor = async () => ({ error: { code: -32000, message: "internal" } });
  const limiting: Interceptor = async () => {
    throw new HttpFault(429);
  };

  test.each<[string, Interceptor, number, string]>([
    ["is away", away, 503, "chain_not_found"],
    ["refuses by HTTP", limiting, 503, "chain_not_found"],
    ["answers an error", erring, 502, "rpc_error"],
  ])("%s: a new report and a recorded one are not answered, and succeed later", async (_, fault, ...code) => {
    const [recorded, fresh] = [await redeemed(101n), await redeemed(102n)];
    const first = await report(recorded, 101n);
    setup.node.intercept(fault);
    const answers = [
      await report(fresh, 102n),
      await report(recorded, 101n),
      await setup.read(alice.address, reportIdOf(first)),
    ];
    for (const answer of answers) expect(failure(answer)).toEqual(code);
    setup.node.intercept();
    expect((await report(fresh, 102n)).status).toBe(200);
    expect((await report(recorded, 101n)).json).toEqual(first.json);
  });

  test("lags when a transaction is reported: it is asked again until it knows the transaction", async () => {
    const hash = await redeemed(103n);
    let unknown = 4;
    setup.node.intercept(async ({ method }, forward) => {
      if (!/^eth_getTransaction(Receipt|ByHash)$/.test(method) || unknown === 0) return forward();
      unknown -= 1;
      return { result: null };
    });
    // The api asks for three seconds; on a busy machine that may be too few times.
    await expect
      .poll(async () => {
        unknown = 4;
        return (await report(hash, 103n)).status;
      })
      .toBe(200);
    expect(unknown).toBe(0);
  });

  test("lags behind a record: the record stands, because no other block is at its height", async () => {
    const hash = await redeemed(104n);
    const first = await report(hash, 104n);
    setup.node.intercept(async ({ method }, forward) =>
      method === "eth_getBlockByNumber" ? { result: null } : forward(),
    );
    const again = await report(hash, 104n);
    expect([again.status, again.json]).toEqual([200, first.json]);
  });

  test("has the receipt of a transaction whose reason it no longer knows: tx_reverted without one", async () => {
    const hash = await sendCall(setup.protocol, bob, setup.calls.redeem(setup.matured, 1_000_000n));
    setup.node.intercept(async ({ method }, forward) =>
      method === "eth_call" ? { error: { code: -32000, message: "missing trie node" } } : forward(),
    );
    const body = setup.bodies.redemption(hash, 1n, bob.address);
    expect(failure(await setup.report("redeem", bob.address, body))).toEqual([422, "tx_reverted"]);
  });

  test("takes long to repeat reverted calls, which strangers chose: it repeats four at a time at most", async () => {
    const hash = await sendCall(setup.protocol, bob, setup.calls.redeem(setup.matured, 1_000_000n));
    const body = setup.bodies.redemption(hash, 1n, bob.address);
    let [running, most] = [0, 0];
    setup.node.intercept(async ({ method }, forward) => {
      if (method !== "eth_call") return forward();
      most = Math.max(most, ++running);
      await sleep(200);
      running -= 1;
      return forward();
    });
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => setup.report("redeem", bob.address, body)),
    );
    for (const answer of answers) expect(failure(answer)).toEqual([422, "tx_reverted"]);
    expect(answers.map(messageOf)).toContain("The transaction reverted: Insufficient bonds");
    expect(most).toBeLessThanOrEqual(4);
  });
});

const asObject = (json: unknown) => z.looseObject({ holdings: z.looseObject({}).nullable() }).parse(json);

test("a record in a final block is answered without the node, and then without the wallet's holdings", async () => {
  const hash = await redeemed(105n);
  const { holdings, ...first } = asObject((await report(hash, 105n)).json);
  await setup.chain.client.mine({ blocks: 100 });
  const asOfBlock = String(await setup.chain.client.getBlockNumber());
  expect((await report(hash, 105n)).json).toEqual({ ...first, holdings: { ...holdings, asOfBlock } });
  setup.node.intercept(async () => "lost");
  expect((await report(hash, 105n)).json).toEqual({ ...first, holdings: null });
});

test("a report is recorded, without holdings, when the node cannot tell them in time", async () => {
  const faults: Interceptor[] = [
    async ({ method }, forward) => (method === "eth_call" ? new Promise(() => {}) : forward()),
    async ({ method }, forward) =>
      method === "eth_call" ? { error: { code: -32000, message: "busy" } } : forward(),
    // It lags behind the record's block.
    async ({ method }, forward) => (method === "eth_blockNumber" ? { result: "0x1" } : forward()),
  ];
  for (const [index, fault] of faults.entries()) {
    const amount = 110n + BigInt(index);
    const hash = await redeemed(amount);
    setup.node.intercept(fault);
    const answer = await report(hash, amount);
    setup.node.intercept();
    expect(answer.status, answer.text).toBe(200);
    expect(answer.json).toMatchObject({ status: "redeemed", holdings: null });
  }
});

test("without an index a redemption is recorded, and a queued one is 503 until its payment can be read", async () => {
  await useUpWeek(setup);
  const hash = await redeemed(600n);
  expect(failure(await report(hash, 600n))).toEqual([503, "indexer_unavailable"]);
  expect(failure(await report(hash, 601n))).toEqual([409, "duplicate_redemption"]);
});

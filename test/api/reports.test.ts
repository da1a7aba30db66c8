/**
 * Reports of redemptions, listings and purchases that a wallet has sent itself. What this proves: each is recorded once, as
 * the protocol's contracts logged it for the wallet; and each cause of a refusal has its own code.
 */
import { type Hex, numberToHex } from "viem";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { connect } from "../../lib/db/connect.ts";
import { lower } from "../../lib/lower.ts";
import { openRows } from "../src/support/rows.ts";
import { atEnd } from "../support/cleanup.ts";
import { usdc } from "../support/ledger.ts";
import * as act from "../support/protocol-actions.ts";
import { failure } from "./support/api.ts";
import { walletCalls } from "./support/contract-wallet.ts";
import { refusedReports } from "./support/refused-reports.ts";
import {
  alice,
  bob,
  type Call,
  carol,
  holdingsOf,
  owner,
  type ReportSetup,
  reportIdOf,
  sendCall,
  startReports,
  useUpWeek,
  WEEK,
} from "./support/reports.ts";

let setup: ReportSetup;
beforeAll(async () => {
  setup = await startReports(["api", "indexer"]);
});
afterEach(() => setup.node.intercept());

const send = (account: typeof alice, call: Call) => sendCall(setup.protocol, account, call);

const redeemed = (amount: bigint) => send(alice, setup.calls.redeem(setup.matured, amount));
const listed = (amount: bigint, price: bigint) => send(bob, setup.calls.list(setup.fresh, amount, price));

async function blockOf(hash: Hex) {
  const { blockNumber, blockHash } = await setup.chain.client.getTransactionReceipt({ hash });
  const { timestamp } = await setup.chain.client.getBlock({ blockHash });
  return {
    blockNumber: Number(blockNumber),
    blockHash,
    time: new Date(Number(timestamp) * 1000).toISOString(),
  };
}

const asObject = (json: unknown) => z.looseObject({}).parse(json);

describe("a report is recorded with the event's numbers, and the same report again is the same record", () => {
  test("a redemption that was paid at once, with either name of the bond", async () => {
    const hash = await redeemed(100n);
    const { blockNumber, blockHash, time } = await blockOf(hash);
    const first = await setup.report("redeem", alice.address, setup.bodies.redemption(hash, 100n));
    expect(first.status, first.text).toBe(200);
    expect(first.json).toMatchObject({
      ...{
        ok: true,
        success: true,
        status: "redeemed",
        txHash: hash,
        blockNumber,
        blockHash,
        executedAt: time,
      },
      ...{ ownerAddress: alice.address, bondId: String(setup.matured), usdAmount: "100", amount: "100" },
      ...{ tokenReceived: String(1_000n * 10n ** 18n), luminaReceived: String(1_000n * 10n ** 18n) },
      ...{ priceUsed: String(10n ** 17n), queue: null },
      holdings: await holdingsOf(setup.chain, alice.address, setup.matured),
    });
    const { epochId: bondId, ...rest } = setup.bodies.redemption(hash, 100n);
    const ownerAddress = rest.ownerAddress.toLowerCase();
    for (const body of [
      { ...rest, bondId },
      { ...rest, bondId, epochId: bondId, ownerAddress },
    ]) {
      const again = await setup.report("redeem", alice.address, body);
      expect([again.status, again.json]).toEqual([200, first.json]);
      expect(again.headers.get("location")).toBe(`/api/v1/reports/${reportIdOf(first)}`);
    }
    const read = await setup.read(alice.address, reportIdOf(first));
    expect(read.json).toMatchObject({
      ...{ kind: "redeem", status: "recorded", walletAddress: alice.address, redemption: first.json },
    });
    expect(failure(await setup.read(bob.address, reportIdOf(first)))).toEqual([404, "not_found"]);
  });

  test("a listing and its purchase", async () => {
    const hash = await listed(10n, usdc(11));
    const first = await setup.report("list", bob.address, setup.bodies.listing(hash, 10n, usdc(11)));
    const { blockNumber, time } = await blockOf(hash);
    expect(first.status, first.text).toBe(200);
    expect(first.json).toMatchObject({
      ...{ success: true, txHash: hash, blockNumber, createdAt: time, sellerAddress: bob.address },
      ...{ epochId: String(setup.fresh), amount: "10", totalPriceUsdc: "11000000", listingId: "11" },
      holdings: await holdingsOf(setup.chain, bob.address, setup.fresh, {
        ...{ listingId: "11", amount: "10", totalPriceUsdc: "11000000" },
      }),
    });
    const again = await setup.report("list", bob.address, setup.bodies.listing(hash, 10n, usdc(11)));
    expect([again.status, again.json]).toEqual([200, first.json]);

    const bought = await send(alice, setup.calls.buy(11n));
    const body = {
      ...setup.bodies.purchase(bought, 11n, alice.address),
      amount: "10",
      totalPaidUsdc: "11165000",
    };
    const sale = await setup.report("buy", alice.address, body);
    expect(sale.status, sale.text).toBe(200);
    expect(sale.json).toMatchObject({
      ...{ success: true, txHash: bought, listingId: "11", buyerAddress: alice.address },
      ...{ sellerAddress: bob.address, bondId: String(setup.fresh), amount: "10", totalPaidUsdc: "11165000" },
      holdings: await holdingsOf(setup.chain, alice.address, setup.fresh),
    });
    expect(sale.json).toMatchObject({ holdings: { bondBalance: "10" } });
    const read = await setup.read(alice.address, reportIdOf(sale));
    expect(read.json).toMatchObject({ kind: "buy", status: "recorded", purchase: sale.json });
    const sold = await setup.report("list", bob.address, setup.bodies.listing(hash, 10n, usdc(11)));
    expect(sold.json).toEqual({
      ...asObject(first.json),
      holdings: await holdingsOf(setup.chain, bob.address, setup.fresh),
    });
  });

  test("ten simultaneous reports of one redemption make one record", async () => {
    const hash = await redeemed(101n);
    const answers = await Promise.all(
      Array.from({ length: 10 }, () =>
        setup.report("redeem", alice.address, setup.bodies.redemption(hash, 101n)),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(reportIdOf)).size).toBe(1);
  });

  test("a contract wallet's purchase and two redemptions in one transaction, each of them once", async () => {
    const { contractWallet: wallet, boughtByContract, calls, matured } = setup;
    const bought = await setup.report("buy", wallet, setup.bodies.purchase(boughtByContract, 0n, wallet));
    expect(bought.status, bought.text).toBe(200);
    expect(bought.json).toMatchObject({ buyerAddress: wallet, sellerAddress: alice.address, amount: "1000" });
    const both = walletCalls(calls.redeem(matured, 20n), calls.redeem(matured, 30n));
    const hash = await send(carol, { to: wallet, data: both });
    const report = (usdAmount: bigint) =>
      setup.report("redeem", wallet, setup.bodies.redemption(hash, usdAmount, wallet));
    expect(failure(await report(50n))).toEqual([422, "amount_mismatch"]);
    const [first, second] = [await report(20n), await report(30n)];
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(first.json).toMatchObject({ amount: "20", ownerAddress: wallet });
    expect(second.json).toMatchObject({ amount: "30", ownerAddress: wallet });
    expect(reportIdOf(second)).not.toBe(reportIdOf(first));
    expect((await report(20n)).json).toEqual(first.json);
    expect(failure(await report(50n))).toEqual([409, "duplicate_redemption"]);
  });
});

test("a pending transaction is 202 until a block has it, and reports that are pending for a month are deleted", async () => {
  const { chain, calls, matured } = setup;
  const { sql, close } = connect(setup.stack.databaseUrl, { name: "test" });
  atEnd(close);
  await sql`
    insert into service.report (chain_id, kind, wallet, tx_hash, content, created_at)
    select 8453, 'list', ${lower(bob.address)}, ${`0x${"cd".repeat(32)}`}, jsonb_build_object('listed', age), now() - age
    from unnest(array['29 days', '31 days']::interval[]) age`;
  const leftOver = () => sql<{ age: string }[]>`
    select (content ->> 'listed') as age from service.report where tx_hash = ${`0x${"cd".repeat(32)}`}`;
  await chain.client.setAutomine(false);
  const hash = await chain.client.sendTransaction({
    account: alice,
    ...calls.redeem(matured, 102n),
    gas: 1_000_000n,
  });
  const pending = await setup.report("redeem", alice.address, setup.bodies.redemption(hash, 102n));
  expect(pending.status, pending.text).toBe(202);
  expect(pending.json).toMatchObject({ kind: "redeem", status: "pending", txHash: hash, redemption: null });
  const id = reportIdOf(pending);
  expect(pending.headers.get("location")).toBe(`/api/v1/reports/${id}`);
  expect((await setup.read(alice.address, id)).json).toEqual(pending.json);
  expect((await leftOver()).map(({ age }) => age)).toEqual(["29 days"]);
  await chain.client.mine({ blocks: 1 });
  await chain.client.setAutomine(true);
  expect((await setup.read(alice.address, id)).json).toMatchObject({ status: "recorded" });
  const done = await setup.report("redeem", alice.address, setup.bodies.redemption(hash, 102n));
  expect([done.status, reportIdOf(done)]).toEqual([200, id]);
});

test("a transaction that the node does not know is 503 while the node is behind the index", async () => {
  const { node, chain } = setup;
  const rows = openRows(setup.stack.databaseUrl);
  await rows.caughtUp(chain.client);
  await rows.close();
  const old = numberToHex((await chain.client.getBlockNumber()) - 5n);
  node.intercept(async (call, forward) => {
    const isHead = call.method === "eth_getBlockByNumber" && call.params[0] === "latest";
    return forward(isHead ? { method: call.method, params: [old, false] } : undefined);
  });
  const answer = await setup.report(
    "redeem",
    alice.address,
    setup.bodies.redemption(`0x${"ab".repeat(32)}`, 1n),
  );
  expect(failure(answer)).toEqual([503, "chain_not_found"]);
});

describe("a report that is refused", () => refusedReports(() => setup));

// The last one, because it moves the chain by weeks.
test("a queued redemption says when it is paid, and once it is, the same report has the payment", async () => {
  const { protocol, chain } = setup;
  const week = await useUpWeek(setup);
  const hash = await redeemed(600n);
  const late = await redeemed(20n);
  await act.setTokenPrice(protocol, owner, "0.1");
  const report = (of = hash, amount = 600n) =>
    setup.report("redeem", alice.address, setup.bodies.redemption(of, amount));
  const queued = await report();
  expect(queued.status, queued.text).toBe(200);
  expect(queued.json).toMatchObject({
    ...{ status: "queued", usdAmount: "600", tokenReceived: null, luminaReceived: null, priceUsed: null },
    queue: {
      ...{ targetEpoch: String(week + 1n), payment: null },
      payableFrom: new Date(Number((week + 1n) * WEEK) * 1000).toISOString(),
    },
  });
  await act.mineAt(protocol, (week + 1n) * WEEK);
  await act.setTokenPrice(protocol, owner, "0.2");
  const { paid, receipt } = await act.processQueue(protocol, bob);
  expect(paid.map(({ usd }) => usd)).toEqual([600n, 20n]);
  // It is a payment, which its holder cannot report as a redemption.
  expect(failure(await report(receipt.transactionHash))).toEqual([422, "event_missing"]);
  const queueId = (index: bigint) => String((week + 1n) * 10_000n + index);
  const { timestamp, transactions } = await chain.client.getBlock();
  await expect
    .poll(async () => (await report()).json)
    .toMatchObject({
      ...{ status: "paid", tokenReceived: String(3_000n * 10n ** 18n), priceUsed: String(2n * 10n ** 17n) },
      ...{ luminaReceived: String(3_000n * 10n ** 18n), reportId: reportIdOf(queued), txHash: hash },
      queue: {
        ...{ queueId: queueId(0n), targetEpoch: String(week + 1n) },
        payment: { txHash: transactions[0], paidAt: new Date(Number(timestamp) * 1000).toISOString() },
      },
    });
  expect((await report(late, 20n)).json).toMatchObject({ status: "paid", queue: { queueId: queueId(1n) } });

  // Another one, which nobody pays in its week.
  await act.setTokenPrice(protocol, owner, "0.1");
  await act.redeem(protocol, owner, setup.matured, 7_400n);
  await act.setTokenPrice(protocol, owner, "0.0098");
  const lost = await redeemed(30n);
  await act.mineAt(protocol, (week + 3n) * WEEK);
  await act.processQueue(protocol, bob);
  await expect
    .poll(async () => (await report(lost, 30n)).json)
    .toMatchObject({ status: "stranded", tokenReceived: null, queue: { payment: null } });
});

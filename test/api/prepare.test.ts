/**
 * Prepared transactions. What this proves: a wallet that has approved nothing does each action by sending the prepared calls
 * as they stand, and what it has approved before is not asked for again; and what stands in the way is said.
 */
import { erc20Abi, parseEventLogs } from "viem";
import { beforeAll, describe, expect, test } from "vitest";
import { bondMarketplaceAbi } from "../../abis/BondMarketplace.ts";
import { productIdOf } from "../../lib/products.ts";
import { termsOf } from "../../scripts/local/protocol/terms.ts";
import { usdc } from "../support/ledger.ts";
import * as act from "../support/protocol-actions.ts";
import {
  bondsOf,
  codesOf,
  newcomer,
  prepare,
  reportStep,
  sendAll,
  statusesOf,
  usdcOf,
} from "./support/prepare.ts";
import { preparedIssues } from "./support/prepared-issues.ts";
import { preparedTriggers } from "./support/prepared-triggers.ts";
import { alice, bob, owner, type ReportSetup, startReports } from "./support/reports.ts";

const eth1h = termsOf("FLASHETH1H-001");

let setup: ReportSetup;
beforeAll(async () => {
  setup = await startReports(["api", "indexer"]);
});

/** What an answer says when nothing stands in the way of the steps. */
const simulated = { simulation: { status: "ok" } };

/** A wallet with 800 fresh bonds, from a policy that it bought and somebody triggered, by prepared calls. */
async function holderByPreparedCalls() {
  const { chain, protocol } = setup;
  const holder = await newcomer(chain, protocol, usdc(10));
  const bought = await prepare(setup, "purchase", {
    from: holder.address,
    productName: eth1h.name,
    coverageAmount: String(usdc(1_000)),
  });
  expect(bought).toMatchObject({ action: "purchase", from: holder.address, ...simulated });
  expect(codesOf(bought)).toEqual(["allowance"]);
  expect(statusesOf(bought)).toEqual(["approve incomplete", "purchase incomplete"]);
  const { policyId, premium } = act.purchased(await sendAll(protocol, holder, bought));
  expect(bought.steps[0]?.call.args[1]).toBe(String(premium));
  expect(await usdcOf(protocol, holder.address)).toBe(usdc(10) - premium);

  const low = await act.triggerPrice(protocol, eth1h, policyId);
  const { price } = await act.latestRound(protocol, "ETH");
  const { start } = await act.coverOf(protocol, eth1h, policyId);
  for (let n = 0n; n < 3n; n += 1n) {
    await act.nextBlockAt(protocol, start + 300n + 70n * n);
    await act.pushPrice(protocol, owner, "ETH", low);
    const trigger = await prepare(setup, "trigger", {
      from: bob.address,
      productId: eth1h.productId,
      policyId: String(policyId),
    });
    expect(trigger).toMatchObject({ issues: [], ...simulated });
    expect(statusesOf(trigger)).toEqual(["trigger incomplete"]);
    await sendAll(protocol, bob, trigger);
  }
  await act.pushPrice(protocol, owner, "ETH", price);
  expect(await bondsOf(protocol, holder.address, setup.fresh)).toBe(800n);
  return holder;
}

test("buy a policy, trigger it, list its bonds, buy them, and withdraw the price, by wallets that have approved nothing", async () => {
  const { chain, protocol, fresh } = setup;
  const { marketplace } = chain.deployment.contracts;
  const seller = await holderByPreparedCalls();
  const listing = await prepare(setup, "list", {
    from: seller.address,
    epochId: String(fresh),
    amount: "300",
    totalPriceUsdc: String(usdc(200)),
  });
  expect(codesOf(listing)).toEqual(["bond_approval"]);
  expect(statusesOf(listing)).toEqual(["approve incomplete", "list incomplete", "revoke optional"]);
  expect(listing).toMatchObject({ ...simulated, sendCalls: { calls: [{}, {}] } });
  const listed = await sendAll(protocol, seller, listing);
  const { listingId } = act.onlyEvent(listed, bondMarketplaceAbi, "Listed").args;
  const report = await reportStep(setup, listing, listed.transactionHash);
  expect(report.status, report.text).toBe(200);
  expect(report.json).toMatchObject({ listingId: String(listingId), amount: "300" });
  expect(await bondsOf(protocol, seller.address, fresh)).toBe(500n);

  const buyer = await newcomer(chain, protocol, usdc(300));
  const purchase = await prepare(setup, "buy", { from: buyer.address, listingId: String(listingId) });
  expect(codesOf(purchase)).toEqual(["allowance"]);
  expect(statusesOf(purchase)).toEqual(["approve incomplete", "buy incomplete"]);
  expect(purchase).toMatchObject(simulated);
  const bought = await sendAll(protocol, buyer, purchase);
  const sale = await reportStep(setup, purchase, bought.transactionHash);
  expect(sale.status, sale.text).toBe(200);
  expect(sale.json).toMatchObject({ listingId: String(listingId), totalPaidUsdc: String(usdc(203)) });
  expect(await bondsOf(protocol, buyer.address, fresh)).toBe(300n);
  expect(await usdcOf(protocol, buyer.address)).toBe(usdc(97));
  // The marketplace holds 98.5 % of the price for the seller.
  const before = await usdcOf(protocol, seller.address);
  const withdrawal = await prepare(setup, "withdraw", { from: seller.address });
  expect(withdrawal).toMatchObject({ action: "withdraw", issues: [], ...simulated });
  expect(statusesOf(withdrawal)).toEqual(["withdraw incomplete"]);
  await sendAll(protocol, seller, withdrawal);
  expect((await usdcOf(protocol, seller.address)) - before).toBe(usdc(197));
  // The approval was exact: nothing of it is left.
  const left = await protocol.client.readContract({
    address: chain.deployment.contracts.usdc,
    abi: erc20Abi,
    functionName: "allowance",
    args: [buyer.address, marketplace],
  });
  expect(left).toBe(0n);
});

test("what is approved already is a complete step, and is not sent again: list, cancel, buy, purchase", async () => {
  const { protocol, fresh } = setup;
  const listing = await prepare(setup, "list", {
    from: bob.address,
    bondId: String(fresh),
    amount: "5",
    totalPriceUsdc: String(usdc(5)),
  });
  expect(listing).toMatchObject({ issues: [], ...simulated });
  expect(statusesOf(listing)).toEqual(["approve complete", "list incomplete", "revoke optional"]);
  expect(listing.sendCalls.calls).toEqual([
    { to: listing.steps[1]?.to, data: listing.steps[1]?.data, value: "0x0" },
  ]);
  const { listingId } = act.onlyEvent(
    await sendAll(protocol, bob, listing),
    bondMarketplaceAbi,
    "Listed",
  ).args;
  const before = await bondsOf(protocol, bob.address, fresh);
  const cancellation = await prepare(setup, "cancel", { from: bob.address, listingId: String(listingId) });
  expect(cancellation).toMatchObject({ issues: [], ...simulated });
  expect(cancellation.steps.map(({ report }) => report)).toEqual([null]);
  await sendAll(protocol, bob, cancellation);
  expect(await bondsOf(protocol, bob.address, fresh)).toBe(before + 5n);

  const purchase = await prepare(setup, "buy", { from: bob.address, listingId: "2" });
  expect(statusesOf(purchase)).toEqual(["approve complete", "buy incomplete"]);
  expect(purchase).toMatchObject({ issues: [], ...simulated });
  await sendAll(protocol, bob, purchase);
  expect(await bondsOf(protocol, bob.address, fresh)).toBe(before + 1_005n);

  const policy = await prepare(setup, "purchase", {
    from: bob.address,
    productId: productIdOf("FLASHBTC1H-001"),
    coverageAmount: String(usdc(100)),
  });
  expect(statusesOf(policy)).toEqual(["approve complete", "purchase incomplete"]);
  expect(policy).toMatchObject({ issues: [], ...simulated });
  const receipt = await sendAll(protocol, bob, policy);
  expect(parseEventLogs({ abi: bondMarketplaceAbi, logs: receipt.logs })).toEqual([]);
  expect(act.purchased(receipt).premium).toBe(292_000n);
});

test("redeem matured bonds, and report it", async () => {
  const { protocol, matured } = setup;
  const before = await bondsOf(protocol, alice.address, matured);
  const redemption = await prepare(setup, "redeem", {
    from: alice.address,
    epochId: String(matured),
    usdAmount: "100",
  });
  expect(redemption).toMatchObject({ issues: [], ...simulated });
  expect(statusesOf(redemption)).toEqual(["redeem incomplete"]);
  const receipt = await sendAll(protocol, alice, redemption);
  const report = await reportStep(setup, redemption, receipt.transactionHash);
  expect(report.status, report.text).toBe(200);
  expect(report.json).toMatchObject({ status: "redeemed", usdAmount: "100", ownerAddress: alice.address });
  expect(await bondsOf(protocol, alice.address, matured)).toBe(before - 100n);
});

test("an answer names its block, and holds for ten minutes unless the action ends earlier", async () => {
  const { chain, protocol, matured } = setup;
  await act.refreshFeeds(protocol, owner);
  const block = await chain.client.getBlock();
  const { action, chainId, asOf, validUntil, sendCalls } = await prepare(setup, "redeem", {
    from: alice.address.toLowerCase(),
    epochId: String(matured),
    usdAmount: "1",
  });
  expect({ action, chainId, asOf }).toEqual({
    action: "redeem",
    chainId: 8453,
    asOf: {
      blockNumber: String(block.number),
      blockHash: block.hash,
      timestamp: String(block.timestamp),
    },
  });
  expect(validUntil).toBe(String(block.timestamp + 600n));
  expect(sendCalls).toMatchObject({ chainId: "0x2105", from: alice.address });
});

describe("triggers", () => preparedTriggers(() => setup));
describe("what stands in the way", () => preparedIssues(() => setup));

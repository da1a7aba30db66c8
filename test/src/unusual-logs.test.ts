/**
 * Proves that the projections accept every log that the ABIs allow, in any order and without related events, and that they
 * store its values.
 */
import { keccak256, stringToHex, zeroAddress, zeroHash } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bondMarketplaceAbi } from "../../abis/BondMarketplace.ts";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { buybackEngineAbi } from "../../abis/BuybackEngine.ts";
import { claimBondAbi } from "../../abis/ClaimBond.ts";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { policyManagerAbi } from "../../abis/PolicyManager.ts";
import { priceAggregatorAbi } from "../../abis/PriceAggregator.ts";
import { protocolTokenAbi } from "../../abis/ProtocolToken.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { alice, bob, carol, type EmittedLogs, emittedLogs, FLASHBTC1H } from "./support/emitted-logs.ts";
import { type EmitterChain, type Entry, entry, startEmitterChain } from "./support/emitter-chain.ts";
import { openRows, type Rows } from "./support/rows.ts";

const unknownProduct = keccak256(stringToHex("NOBODY-KNOWS-ME"));
const MAX = 2n ** 256n - 1n;
const hostileName = "tab\tback\\slash\0nul\nline\u2028“quote” 'x' {y} \\N";

let chain: EmitterChain;
let logs: EmittedLogs;
let stack: Stack;
let rows: Rows;
let found: Rows["found"];

beforeAll(async () => {
  chain = await startEmitterChain();
  logs = emittedLogs(chain);
  stack = await startStack({ chain, services: ["indexer"] });
  rows = openRows(stack.databaseUrl);
  ({ found } = rows);
});
afterAll(() => rows?.close());

test("a purchase is one policy, whatever the order of its three events", async () => {
  const { created, purchased, snapshot } = logs;
  const orders = [
    [created, snapshot, purchased],
    [purchased, created, snapshot],
    [snapshot, purchased, created],
    [snapshot, created, purchased],
  ];
  for (const [index, order] of orders.entries()) {
    await chain.emit(...order.map((event) => event(FLASHBTC1H, BigInt(index))));
  }
  await rows.caughtUp(chain.client);
  for (const index of orders.keys()) {
    const [policy, ...more] = await found("policy", { product_id: FLASHBTC1H, policy_id: String(index) });
    expect(more).toEqual([]);
    expect(policy).toMatchObject({ buyer: alice, paid_by: bob, price_snapshot: "99", premium: "7" });
    expect(BigInt(String(policy?.expires_at)) - BigInt(String(policy?.created_at))).toBe(3600n);
  }
  expect(await found("account", { address: alice })).toMatchObject([{ policies: 4 }]);
  expect(await found("product_stats", { product_id: FLASHBTC1H })).toMatchObject([
    { policies: 4, premium: "28", coverage: "2000" },
  ]);
  expect(await found("activity", { type: "policy_purchased" })).toHaveLength(4);
});

test("a policy of an unknown product has null for the product's values", async () => {
  await chain.emit(logs.created(unknownProduct, 1n), logs.purchased(unknownProduct, 1n));
  await rows.caughtUp(chain.client);
  expect(await found("policy", { product_id: unknownProduct })).toMatchObject([
    { buyer: alice, shield: null, expires_at: null, price_snapshot: "0" },
  ]);
  expect(await found("product", { product_id: unknownProduct })).toEqual([]);
});

test("triggers and bonds of one transaction are linked, several of one holder in order", async () => {
  const { triggered, issued } = logs;
  await chain.emit(triggered(0n), issued(202812n, 11n), issued(202812n, 22n), triggered(1n));
  await chain.emit(triggered(77n), issued(202812n, 33n, bob));
  await rows.caughtUp(chain.client);
  expect(await found("policy", { policy_id: "0", bond_epoch_id: "202812" })).toMatchObject([
    { bond_amount: "11" },
  ]);
  expect(await found("policy", { policy_id: "1", bond_epoch_id: "202812" })).toMatchObject([
    { bond_amount: "22" },
  ]);
  expect(await found("bond_issue", { usd_amount: "22" })).toMatchObject([{ policy_id: "1" }]);
  expect(await found("bond_issue", { usd_amount: "33" })).toMatchObject([{ policy_id: null }]);
  expect(await found("policy_trigger", { policy_id: "77" })).toMatchObject([{ bond_epoch_id: null }]);
});

test("a burn is linked to the burner or buyback that reports it before or after; others are direct, also of the same amount", async () => {
  const { twapBurner, bondVault } = chain.contracts;
  const { burned, burnExecuted, doubleBurned } = logs;
  await chain.emit(burned(twapBurner, 10n), burnExecuted(10n));
  await chain.emit(burnExecuted(20n), burned(twapBurner, 20n));
  await chain.emit(burned(alice, 30n), burned(twapBurner, 30n), burnExecuted(30n));
  await chain.emit(burned(bob, 40n));
  await chain.emit(burnExecuted(40n)); // in another transaction, so not bob's burn
  await chain.emit(burned(alice, 50n), burnExecuted(50n), burned(twapBurner, 50n));
  await chain.emit(burned(carol, 60n), burnExecuted(60n)); // the burner's own burn is missing
  await chain.emit(burned(bondVault, 70n), doubleBurned(70n));
  await chain.emit(doubleBurned(80n), burned(bondVault, 80n), burned(bondVault, 80n));
  await chain.emit(burned(alice, 90n), doubleBurned(90n)); // not of the reserve
  await rows.caughtUp(chain.client);
  const nameOf = (burner: unknown) =>
    ({ [twapBurner.toLowerCase()]: "twap", [bondVault.toLowerCase()]: "vault" })[String(burner)] ?? "other";
  // The burner's price has 6 decimals, 0.000003 USDC, and the index's 18.
  const burns = (await rows.rows("token_burn")).map(
    (b) => `${b.token_amount} ${nameOf(b.burner)} ${b.source} ${b.usdc_spent} ${b.effective_price}`,
  );
  expect(burns.sort()).toEqual([
    "10 twap twap_burner 5 3000000000000",
    "20 twap twap_burner 5 3000000000000",
    "30 other direct 0 null",
    "30 twap twap_burner 5 3000000000000",
    "40 other direct 0 null",
    "50 other direct 0 null",
    "50 twap twap_burner 5 3000000000000",
    "60 other direct 0 null",
    "70 vault buyback_engine 0 null",
    "80 vault buyback_engine 0 null",
    "80 vault direct 0 null",
    "90 other direct 0 null",
  ]);
  expect(await rows.rows("burn_source_stats")).toMatchObject([
    { source: "buyback_engine", token_burned: "150", usdc_spent: "0", burns: 2 },
    { source: "direct", token_burned: "350", usdc_spent: "0", burns: 6 },
    { source: "twap_burner", token_burned: "110", usdc_spent: "30", burns: 4 },
  ]);
  expect(await rows.rows("protocol_stats")).toMatchObject([
    { token_burned: "610", burns: 12, burn_usdc_spent: "30" },
  ]);
  expect(await found("activity", { type: "token_burned", ref: "twap_burner" })).toHaveLength(4);
});

test("a policy has the shield with which the router sells, until it is configured with the newly registered one", async () => {
  const { policyManager, coverRouter } = chain.contracts;
  const { created } = logs;
  const productId = keccak256(stringToHex("REGISTERED-ANEW"));
  const registered = (shield: `0x${string}`) =>
    entry(policyManager, policyManagerAbi, "ProductRegistered", { productId, shield });
  const configured = entry(coverRouter, coverRouterAbi, "ProductConfigured", { productId });
  await chain.emit(registered(alice), created(productId, 1n));
  await chain.emit(configured, created(productId, 2n), registered(bob), created(productId, 3n));
  await chain.emit(configured, created(productId, 4n));
  await rows.caughtUp(chain.client);
  const shields = (await found("policy", { product_id: productId })).map(
    (row) => `${row.policy_id} ${row.shield}`,
  );
  expect(shields.sort()).toEqual([`1 null`, `2 ${alice}`, `3 ${alice}`, `4 ${bob}`]);
  expect(await found("product", { product_id: productId })).toMatchObject([
    { shield: bob, registered_shield: bob },
  ]);
});

test("a feed that is no proxy has its own round ids, and an answer that no shield takes gives no strike", async () => {
  const round = (current: bigint, roundId: bigint, updatedAt = 1n) =>
    entry(chain.contracts.btcUsdFeed, priceAggregatorAbi, "AnswerUpdated", { current, roundId, updatedAt });
  const bought = (policyId: bigint) => logs.created(FLASHBTC1H, policyId, carol);
  await chain.emit(bought(500n), round(5n, 7n), bought(501n), round(-5n, 8n), bought(502n));
  await chain.emit(round(MAX / 2n, 9n, MAX), bought(503n), round(5n, MAX));
  await rows.caughtUp(chain.client);
  const policies = await found("policy", { buyer: carol });
  const strikes = policies.map((row) => `${row.policy_id} ${row.strike} ${row.trigger_price}`).sort();
  expect(strikes).toEqual(["500 null null", "501 50000000000 48750000000", "502 null null", "503 null null"]);
  expect((await rows.rows("oracle_round")).map((row) => row.round_id).sort()).toEqual(["7", "8", "9"]);
});

test("roles of the deployed contracts are administrative events, also where ours have owners alone", async () => {
  const { claimBond, marketplace, twapBurner, bondVault, protocolToken } = chain.contracts;
  const granted = { role: keccak256(stringToHex("SOMETHING")), account: alice, sender: bob };
  await chain.emit(
    entry(claimBond, buybackEngineAbi, "RoleGranted", granted),
    entry(marketplace, buybackEngineAbi, "RoleRevoked", granted),
    entry(twapBurner, buybackEngineAbi, "RoleGranted", granted),
    entry(bondVault, buybackEngineAbi, "RoleGranted", granted),
    entry(protocolToken, buybackEngineAbi, "RoleGranted", granted),
    entry(bondVault, bondVaultAbi, "CexReserveSet", { oldReserve: alice, newReserve: bob }),
  );
  await rows.caughtUp(chain.client);
  const events = await found("admin_event", { event: "RoleGranted" });
  expect(events.map(({ contract, args }) => ({ contract, args }))).toEqual([
    { contract: "claimBond", args: granted },
    { contract: "twapBurner", args: granted },
    { contract: "bondVault", args: granted },
    { contract: "protocolToken", args: granted },
  ]);
  expect(await found("admin_event", { event: "CexReserveSet" })).toMatchObject([
    { contract: "bondVault", args: { oldReserve: alice, newReserve: bob } },
  ]);
  expect(await found("admin_event", { event: "RoleRevoked" })).toMatchObject([{ contract: "marketplace" }]);
});

test("events without related events are stored, without made-up values", async () => {
  const { contracts } = chain;
  const stranger = { listingId: 999n, seller: alice };
  await chain.emit(
    entry(contracts.policyManager, policyManagerAbi, "PolicyExpired", { productId: zeroHash, policyId: MAX }),
    entry(contracts.policyManager, policyManagerAbi, "ProductDeactivated", { productId: zeroHash }),
    redeemed(bob, 5n),
    entry(contracts.marketplace, bondMarketplaceAbi, "Cancelled", stranger),
    entry(contracts.marketplace, bondMarketplaceAbi, "Withdrawn", { seller: carol, amount: 3n }),
    entry(contracts.marketplace, bondMarketplaceAbi, "Bought", {
      ...{ ...stranger, buyer: bob, priceUSDC: 8n, sellerFee: 1n, buyerFee: 1n },
    }),
    entry(contracts.claimBond, claimBondAbi, "TransferSingle", {
      ...{ operator: bob, from: alice, to: bob, id: 203001n, value: 4n },
    }),
  );
  await rows.caughtUp(chain.client);
  expect(await found("policy_closing", { policy_id: MAX.toString() })).toHaveLength(1);
  expect(await found("policy", { policy_id: MAX.toString() })).toEqual([]);
  // A payment from the queue, of an entry that the index does not know.
  expect(await found("bond_redemption", { holder: bob })).toMatchObject([
    { usd_amount: "5", queue_id: null },
  ]);
  expect(await found("listing", {})).toEqual([]);
  expect(await found("sale", {})).toMatchObject([{ price: "8", epoch_id: null, amount: null }]);
  expect(await found("listing_cancellation", {})).toHaveLength(1);
  expect(await found("seller_proceeds", { seller: carol })).toMatchObject([
    { credited: "0", withdrawn: "3" },
  ]);
  expect(await found("bond_holding", { owner: bob, epoch_id: "203001" })).toMatchObject([{ balance: "4" }]);
  expect(await found("bond_holding", { owner: alice, epoch_id: "203001" })).toMatchObject([
    { balance: "-4" },
  ]);
});

test("the largest numbers, empty batches and text that Postgres rejects do not stop the index", async () => {
  const { contracts } = chain;
  await chain.emit(
    entry(contracts.coverRouter, coverRouterAbi, "ProductTermsSet", {
      ...{ productId: unknownProduct, name: hostileName, asset: zeroHash },
      ...{ durationSeconds: 2 ** 32 - 1, waitingSeconds: 0 },
      ...{ premiumPpm: 2 ** 32 - 1, triggerDropBps: 65535, legacy: false },
    }),
    entry(contracts.coverRouter, coverRouterAbi, "PolicyPurchased", {
      ...{ productId: unknownProduct, policyId: MAX, buyer: zeroAddress, paidBy: zeroAddress },
      ...{ coverage: MAX, premium: MAX, payout: MAX },
    }),
    entry(contracts.marketplace, bondMarketplaceAbi, "Listed", {
      ...{ listingId: MAX, seller: alice, epochId: MAX, amount: 0n, priceUSDC: MAX },
    }),
    entry(contracts.claimBond, claimBondAbi, "TransferBatch", {
      ...{ operator: bob, from: alice, to: bob, ids: [], values: [] },
    }),
    entry(contracts.claimBond, claimBondAbi, "TransferBatch", {
      ...{ operator: bob, from: zeroAddress, to: bob, ids: [1n, 1n], values: [2n, 3n] },
    }),
    entry(contracts.claimBond, claimBondAbi, "EpochCreated", { epochId: 1n, maturityDate: MAX }),
  );
  await rows.caughtUp(chain.client);
  expect(await found("product", { product_id: unknownProduct })).toMatchObject([
    { name: hostileName.replace("\0", ""), premium_ppm: (2 ** 32 - 1).toString() },
  ]);
  expect(await found("policy", { policy_id: MAX.toString() })).toMatchObject([{ coverage: MAX.toString() }]);
  expect(await found("listing", { listing_id: MAX.toString() })).toMatchObject([{ unit_price: "0" }]);
  expect(await found("bond_holding", { owner: bob, epoch_id: "1" })).toMatchObject([{ balance: "5" }]);
  expect(await found("bond_epoch", { epoch_id: "1" })).toMatchObject([{ maturity_date: MAX.toString() }]);
});

const BOND = 203_001n;
const redeemed = (holder: typeof alice, usdAmount: bigint) =>
  entry(chain.contracts.bondVault, bondVaultAbi, "BondRedeemed", {
    ...{ holder, epochId: BOND, usdAmount, luminaAmount: 3n, priceUsed: 2n },
  });
const burnedFrom = (from: typeof alice, usdAmount: bigint) =>
  entry(chain.contracts.claimBond, claimBondAbi, "BondsBurned", { epochId: BOND, from, usdAmount });
const queuedFor = (holder: typeof alice, usdAmount: bigint, week: bigint) =>
  entry(chain.contracts.bondVault, bondVaultAbi, "BondQueued", {
    ...{ holder, epochIdBond: BOND, usdAmount, targetThrottleEpoch: week },
  });

test("a payment is one from the queue unless a burn of the same bonds precedes it in its transaction, which it uses up", async () => {
  const week = (await chain.client.getBlock()).timestamp / 604_800n;
  const totals = async () => (await rows.rows("vault_state"))[0];
  const before = await totals();
  const queue = [6n, 7n, 6n].flatMap((dollars) => [
    burnedFrom(carol, dollars),
    queuedFor(carol, dollars, week),
  ]);
  await chain.emit(...queue);
  // In one transaction: a payment of the queue, a redemption at once of as much, and a payment again.
  await chain.emit(redeemed(carol, 6n), burnedFrom(carol, 6n), redeemed(carol, 6n), redeemed(carol, 6n));
  // A burn for another amount, and one in another transaction, are none of this payment's.
  await chain.emit(burnedFrom(carol, 7n), burnedFrom(carol, 8n));
  await chain.emit(burnedFrom(carol, 8n), redeemed(carol, 7n));
  await rows.caughtUp(chain.client);
  const paid = (await found("bond_redemption", { holder: carol })).map(({ queue_id }) => queue_id);
  const id = (index: bigint) => String(week * 10_000n + index);
  expect(paid).toEqual([id(0n), null, id(2n), id(1n)]);
  const entries = await found("redemption_queue", { holder: carol });
  expect(entries.map(({ status }) => status)).toEqual(["paid", "paid", "paid"]);
  // Nothing was committed, so that nothing was queued either; neither total is below 0.
  const { committed, queued } = before ?? {};
  expect(await totals()).toMatchObject({ committed, queued });
});

test("the reserve is the balance: what comes in, goes out and is burned, also by a transfer to itself", async () => {
  const { protocolToken, bondVault } = chain.contracts;
  const moved = (from: string, to: string, value: bigint) =>
    entry(protocolToken, protocolTokenAbi, "Transfer", { from, to, value });
  const reserve = async () => BigInt(String((await rows.rows("vault_state"))[0]?.reserve));
  const before = await reserve();
  await chain.emit(
    moved(zeroAddress, bondVault, 1_000n),
    moved(alice, bondVault, 20n),
    moved(alice, bob, 7n),
  );
  await chain.emit(
    moved(bondVault, bob, 3n),
    moved(bondVault, zeroAddress, 5n),
    moved(bondVault, bondVault, 9n),
  );
  await rows.caughtUp(chain.client);
  expect((await reserve()) - before).toBe(1_012n);
  expect(await found("token_burn", { burner: bondVault.toLowerCase(), token_amount: "5" })).toHaveLength(1);
});

/** The rows of all tables without the head, which differs after a reorganisation. */
const withoutHead = async () => ({ ...(await rows.everything()), head: [] });

test("when a key comes again in blocks that are reverted, by the chain or by a crash, the older policy is as before", async () => {
  const sell = (buyer: typeof alice) =>
    chain.emit(logs.created(FLASHBTC1H, 950n, buyer), logs.purchased(FLASHBTC1H, 950n, buyer));
  await sell(alice);
  await chain.emit(logs.triggered(950n));
  await rows.caughtUp(chain.client);
  const before = await withoutHead();
  async function restart(): Promise<void> {
    await stack.kill9("indexer");
    await stack.start("indexer");
    await rows.caughtUp(chain.client);
  }
  const id = await chain.client.snapshot();
  await sell(bob);
  await chain.emit(logs.triggered(950n, bob));
  await sell(carol);
  await chain.emit(logs.created(FLASHBTC1H, 951n, bob), logs.triggered(951n, bob));
  await rows.caughtUp(chain.client);
  const replaced = async () =>
    (await found("replaced_policy", { policy_id: "950" })).map(({ buyer }) => buyer);
  expect((await replaced()).sort()).toEqual([bob, alice]);

  const longer = await withoutHead();
  await restart();
  expect(await withoutHead()).toEqual(longer);

  // To below the height of the indexer's start.
  await chain.client.revert({ id });
  await chain.client.mine({ blocks: 1 });
  await rows.caughtUp(chain.client);
  expect(await withoutHead()).toEqual(before);
  await sell(carol);
  await rows.caughtUp(chain.client);
  expect(await replaced()).toEqual([alice]);
  // Ponder refuses to start where its final block is older than at the start before.
  await chain.client.mine({ blocks: 10 });
  await rows.caughtUp(chain.client);

  const shorter = await withoutHead();
  await restart();
  expect(await withoutHead()).toEqual(shorter);
});

test("an index that reads these logs in a backfill has the same rows", async () => {
  const again: Entry[] = Array.from({ length: 40 }, (_, index) =>
    entry(chain.contracts.coverRouter, coverRouterAbi, "ProductTermsSet", {
      ...{ productId: keccak256(stringToHex(`${index}`)), name: hostileName, asset: zeroHash },
      ...{ durationSeconds: 1, waitingSeconds: 0, premiumPpm: 1, triggerDropBps: 1, legacy: false },
    }),
  );
  await chain.emit(...again);
  // A policy whose key comes again, which `outbox-due` proves for a live index.
  const sold = (buyer: typeof alice) =>
    [logs.created, logs.purchased].map((log) => log(FLASHBTC1H, 900n, buyer));
  await chain.emit(...sold(alice), logs.triggered(900n));
  await chain.emit(logs.snapshot(FLASHBTC1H, 900n), ...sold(bob), logs.triggered(900n, bob));
  await chain.client.mine({ blocks: 31 }); // blocks older than 30 belong to the backfill
  await rows.caughtUp(chain.client);
  const { databaseUrl } = await startStack({ chain, services: ["indexer"] });
  const afterwards = openRows(databaseUrl);
  try {
    await afterwards.caughtUp(chain.client);
    expect(await afterwards.everything()).toEqual(await rows.everything());
    expect(await found("product", { name: hostileName.replace("\0", "") })).toHaveLength(41);
    expect(await found("replaced_policy", { policy_id: "900" })).toHaveLength(1);
  } finally {
    await afterwards.close();
  }
});

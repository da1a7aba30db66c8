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
import { flashShieldAbi } from "../../abis/FlashShield.ts";
import { policyManagerAbi } from "../../abis/PolicyManager.ts";
import { priceAggregatorAbi } from "../../abis/PriceAggregator.ts";
import { priceOracleAbi } from "../../abis/PriceOracle.ts";
import { protocolTokenAbi } from "../../abis/ProtocolToken.ts";
import { shieldAdapterAbi } from "../../abis/ShieldAdapter.ts";
import { shieldKeeperAbi } from "../../abis/ShieldKeeper.ts";
import { twapBurnerAbi } from "../../abis/TwapBurner.ts";
import { assetBytes32, productIdOf } from "../../lib/products.ts";
import * as act from "../support/protocol-actions.ts";
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

test("a purchase is one policy, whichever of manager and router logs first", async () => {
  const { covered, created, purchased } = logs;
  const policy = (id: bigint) => [created(FLASHBTC1H, id), purchased(FLASHBTC1H, id)];
  await chain.emit(covered(0n, 5n, 9_000_000_000n), ...policy(0n));
  await chain.emit(covered(1n, 5n, 9_000_000_000n), ...policy(1n).reverse());
  await rows.caughtUp(chain.client);
  for (const policy_id of ["0", "1"]) {
    const [row, ...more] = await found("policy", { product_id: FLASHBTC1H, policy_id });
    expect(more).toEqual([]);
    expect(row).toMatchObject({ buyer: alice, paid_by: bob, premium: "7", expires_at: "9000000000" });
  }
  expect(await found("account", { address: alice })).toMatchObject([{ policies: 2 }]);
  expect(await found("product_stats", { product_id: FLASHBTC1H })).toMatchObject([
    { policies: 2, premium: "14", coverage: "1000" },
  ]);
  expect(await found("activity", { type: "policy_purchased" })).toHaveLength(2);
});

test("a policy has its shield's strike, with 18 decimals, and a trigger price that is rounded down at 8 decimals first", async () => {
  const eth48 = productIdOf("FLASHETH48-001");
  // 97.5 % of it are 5970370369286.7 units of the feed, and 86 % of the other 258987654322.74.
  const covers = [
    { productId: FLASHBTC1H, policyId: 600n, strike: 61_234_56789012n },
    { productId: eth48, policyId: 600n, strike: 3_011_48435259n },
  ];
  for (const { productId, policyId, strike } of covers)
    await chain.emit(
      logs.covered(policyId, strike, 77n, productId),
      logs.created(productId, policyId, carol),
    );
  await rows.caughtUp(chain.client);
  const adapterOf = (productId: `0x${string}`) => chain.shields.get(productId)?.adapter.toLowerCase();
  const inOrder = async (productId: `0x${string}`) =>
    found("policy", { product_id: productId, policy_id: "600" });
  expect(await inOrder(FLASHBTC1H)).toMatchObject([
    {
      ...{ shield: adapterOf(FLASHBTC1H), asset: assetBytes32("BTC"), expires_at: "77" },
      ...{ strike: "61234567890120000000000", trigger_price: "59703703692860000000000" },
    },
  ]);
  expect(await inOrder(eth48)).toMatchObject([
    {
      ...{ shield: adapterOf(eth48), asset: assetBytes32("ETH"), expires_at: "77" },
      ...{ strike: "3011484352590000000000", trigger_price: "2589876543220000000000" },
    },
  ]);
});

test("the token's price of a policy is the oracle's at its block, and 0 where the oracle reverts", async () => {
  const protocol = act.openProtocol(chain.deployment, chain.url);
  const { owner } = chain;
  await act.setTokenPrice(protocol, owner, "0.0625");
  await chain.emit(logs.created(FLASHBTC1H, 650n));
  await act.setPriceStale(protocol, owner, true);
  await chain.emit(logs.created(FLASHBTC1H, 651n));
  await act.setPriceStale(protocol, owner, false);
  await act.setTokenPrice(protocol, owner, "0.1");
  await chain.emit(logs.created(FLASHBTC1H, 652n));
  await rows.caughtUp(chain.client);
  const snapshots = ["650", "651", "652"].map(async (policy_id) => {
    const [row] = await found("policy", { product_id: FLASHBTC1H, policy_id });
    return row?.price_snapshot;
  });
  expect(await Promise.all(snapshots)).toEqual(["62500000000000000", "0", "100000000000000000"]);
});

test("a policy without its shield's log has null for the shield's values, and of an unknown product no adapter either", async () => {
  await chain.emit(logs.created(unknownProduct, 1n), logs.purchased(unknownProduct, 1n));
  await rows.caughtUp(chain.client);
  const unknown = { buyer: alice, strike: null, trigger_price: null, expires_at: null, asset: null };
  expect(await found("policy", { product_id: unknownProduct })).toMatchObject([{ ...unknown, shield: null }]);
  expect(await found("product", { product_id: unknownProduct })).toEqual([]);
});

test("a trigger's submitter is the router's, or the sender where there is no such log", async () => {
  const { coverRouter, policyManager } = chain.contracts;
  const triggered = (policyId: bigint) =>
    entry(policyManager, policyManagerAbi, "PolicyTriggered", {
      ...{ productId: unknownProduct, policyId, buyer: alice, bondAmount: 1n, reason: zeroHash },
    });
  const submitted = (policyId: bigint) =>
    entry(coverRouter, coverRouterAbi, "TriggerSubmitted", {
      ...{ productId: unknownProduct, policyId, submitter: carol },
    });
  await chain.emit(triggered(1n), submitted(1n), triggered(2n), submitted(3n));
  await chain.emit(triggered(3n));
  await rows.caughtUp(chain.client);
  const sender = chain.owner.address.toLowerCase();
  const triggers = await found("policy_trigger", { product_id: unknownProduct });
  expect(triggers.map(({ policy_id, submitter }) => [policy_id, submitter]).sort()).toEqual([
    ["1", carol],
    ["2", sender],
    ["3", sender],
  ]);
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

test("observations of a policy that the index does not know, or knows with another adapter, leave no trace", async () => {
  const shield = chain.shields.get(FLASHBTC1H)?.shield ?? zeroAddress;
  const observed = (policyId: bigint) => [
    entry(shield, flashShieldAbi, "ConfirmationObserved", {
      policyId,
      count: 1,
      reserved1: 0n,
      reserved2: 0n,
    }),
    entry(shield, flashShieldAbi, "PolicyVerified", {
      ...{
        policyId,
        triggered: false,
        payout: 0n,
        dropBps: 300n,
        reason: stringToHex("ACCRUING", { size: 32 }),
      },
    }),
  ];
  const other = keccak256(stringToHex("FLASHBTC24-001"));
  await chain.emit(logs.covered(960n, 5n, 9n), logs.created(FLASHBTC1H, 960n), logs.created(other, 961n));
  await chain.emit(...observed(960n), ...observed(961n), ...observed(962n));
  await rows.caughtUp(chain.client);
  expect(await found("policy_observation", {})).toMatchObject([
    { policy_id: "960", count: 1, drop_bps: "300" },
  ]);
  expect(await found("policy", { policy_id: "960" })).toMatchObject([{ observations: 1 }]);
  expect(await found("policy", { policy_id: "961" })).toMatchObject([{ observations: 0, observed_in: null }]);
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

test("a product has the adapter of its newest registration; removal by the manager changes nothing", async () => {
  const { policyManager, coverRouter } = chain.contracts;
  const productId = productIdOf("FLASHETH24-001");
  const of = (name: string, args = {}) =>
    entry(policyManager, policyManagerAbi, name, { productId, ...args });
  const row = async () => (await found("product", { product_id: productId }))[0];
  await chain.emit(entry(coverRouter, coverRouterAbi, "ProductConfigured", { productId }));
  await rows.caughtUp(chain.client);
  const terms = { name: "FLASHETH24-001", duration_seconds: "86400", trigger_drop_bps: 850 };
  expect(await row()).toMatchObject({ ...terms, shield: null, active: false });
  await chain.emit(of("ProductRegistered", { shield: alice }), of("ProductRemoved"));
  await rows.caughtUp(chain.client);
  expect(await row()).toMatchObject({ ...terms, shield: alice, active: true });
  await chain.emit(of("ProductRegistered", { shield: bob }), of("ProductDeactivated"));
  await rows.caughtUp(chain.client);
  expect(await row()).toMatchObject({ ...terms, shield: bob, active: false });
  const events = await found("product_event", { product_id: productId });
  expect(events.map(({ kind, args }) => ({ kind, args }))).toEqual(
    expect.arrayContaining([
      { kind: "configured", args: {} },
      { kind: "registered", args: { shield: bob } },
      { kind: "removed", args: {} },
      { kind: "deactivated", args: {} },
    ]),
  );
});

test("a feed that is no proxy has its own round ids", async () => {
  const round = (current: bigint, roundId: bigint, updatedAt = 1n) =>
    entry(chain.contracts.btcUsdFeed, priceAggregatorAbi, "AnswerUpdated", { current, roundId, updatedAt });
  await chain.emit(round(5n, 7n), round(-5n, 8n), round(MAX / 2n, 9n, MAX), round(5n, MAX));
  await rows.caughtUp(chain.client);
  expect((await rows.rows("oracle_round")).map((row) => row.round_id).sort()).toEqual(["7", "8", "9"]);
});

test("new addresses of other contracts are administrative events of router, manager, adapters and shields", async () => {
  const { coverRouter, policyManager, shieldKeeper = zeroAddress } = chain.contracts;
  const { adapter, shield } = chain.shields.get(FLASHBTC1H) ?? { adapter: zeroAddress, shield: zeroAddress };
  await chain.emit(
    entry(coverRouter, coverRouterAbi, "PolicyManagerUpdated", { oldManager: alice, newManager: bob }),
    entry(coverRouter, coverRouterAbi, "TwapBurnerUpdated", { oldBurner: alice, newBurner: bob }),
    entry(coverRouter, coverRouterAbi, "CapacityOracleUpdated", { oldOracle: alice, newOracle: bob }),
    entry(coverRouter, coverRouterAbi, "SequencerFeedUpdated", { oldFeed: alice, newFeed: bob }),
    entry(coverRouter, coverRouterAbi, "UsdcUpdated", { oldUsdc: alice, newUsdc: bob }),
    entry(policyManager, policyManagerAbi, "RouterUpdated", { oldRouter: alice, newRouter: bob }),
    entry(policyManager, policyManagerAbi, "BondVaultUpdated", { oldVault: alice, newVault: bob }),
    entry(adapter, shieldAdapterAbi, "KeeperUpdated", { oldKeeper: alice, newKeeper: bob }),
    entry(adapter, shieldAdapterAbi, "RelayerUpdated", { oldRelayer: alice, newRelayer: bob }),
    entry(shield, flashShieldAbi, "Upgraded", { implementation: bob }),
    entry(shieldKeeper, shieldKeeperAbi, "KeeperPaused", { by: bob }),
  );
  await rows.caughtUp(chain.client);
  const last = (await rows.rows("admin_event")).filter(({ args }) => JSON.stringify(args).includes(bob));
  expect(last.map(({ contract, event, address }) => `${contract} ${event} ${address}`)).toEqual(
    expect.arrayContaining([
      `coverRouter PolicyManagerUpdated ${coverRouter.toLowerCase()}`,
      `coverRouter TwapBurnerUpdated ${coverRouter.toLowerCase()}`,
      `coverRouter CapacityOracleUpdated ${coverRouter.toLowerCase()}`,
      `coverRouter SequencerFeedUpdated ${coverRouter.toLowerCase()}`,
      `coverRouter UsdcUpdated ${coverRouter.toLowerCase()}`,
      `policyManager RouterUpdated ${policyManager.toLowerCase()}`,
      `policyManager BondVaultUpdated ${policyManager.toLowerCase()}`,
      `shieldAdapter KeeperUpdated ${adapter.toLowerCase()}`,
      `shieldAdapter RelayerUpdated ${adapter.toLowerCase()}`,
      `shield Upgraded ${shield.toLowerCase()}`,
      `shieldKeeper KeeperPaused ${shieldKeeper.toLowerCase()}`,
    ]),
  );
});

test("roles of all deployed contracts are administrative events, also where ours have owners alone", async () => {
  const { claimBond, marketplace, twapBurner, bondVault, protocolToken, coverRouter, policyManager } =
    chain.contracts;
  const { shieldKeeper = zeroAddress, pauseRegistry = zeroAddress } = chain.contracts;
  const { adapter, shield } = chain.shields.get(FLASHBTC1H) ?? { adapter: zeroAddress, shield: zeroAddress };
  const of = [
    ["coverRouter", coverRouter],
    ["policyManager", policyManager],
    ["shieldAdapter", adapter],
    ["shield", shield],
    ["shieldKeeper", shieldKeeper],
    ["pauseRegistry", pauseRegistry],
    ["priceOracle", chain.priceOracle],
  ] as const;
  const granted = { role: keccak256(stringToHex("SOMETHING")), account: alice, sender: bob };
  await chain.emit(
    entry(claimBond, buybackEngineAbi, "RoleGranted", granted),
    entry(marketplace, buybackEngineAbi, "RoleRevoked", granted),
    entry(twapBurner, buybackEngineAbi, "RoleGranted", granted),
    entry(bondVault, buybackEngineAbi, "RoleGranted", granted),
    entry(protocolToken, buybackEngineAbi, "RoleGranted", granted),
    ...of.map(([, at]) => entry(at, buybackEngineAbi, "RoleGranted", granted)),
    ...of.map(([, at]) => entry(at, buybackEngineAbi, "RoleRevoked", granted)),
    entry(chain.priceOracle, priceOracleAbi, "Upgraded", { implementation: bob }),
    entry(bondVault, bondVaultAbi, "CexReserveSet", { oldReserve: alice, newReserve: bob }),
  );
  await rows.caughtUp(chain.client);
  const own = of.map(([contract]) => contract);
  const withRole = async (event: string) => {
    const events = await found("admin_event", { event });
    for (const { args } of events) expect(args).toEqual(granted);
    return events.map(({ contract }) => contract).sort();
  };
  expect(await withRole("RoleGranted")).toEqual(
    ["claimBond", "twapBurner", "bondVault", "protocolToken", ...own].sort(),
  );
  expect(await withRole("RoleRevoked")).toEqual(["marketplace", ...own].sort());
  expect(await found("admin_event", { event: "Upgraded", contract: "priceOracle" })).toMatchObject([
    { address: chain.priceOracle.toLowerCase(), args: { implementation: bob } },
  ]);
  expect(await found("admin_event", { event: "CexReserveSet" })).toMatchObject([
    { contract: "bondVault", args: { oldReserve: alice, newReserve: bob } },
  ]);
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
    entry(contracts.twapBurner, twapBurnerAbi, "ConfigUpdated", { name: hostileName, value: MAX }),
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
  expect(await found("admin_event", { event: "ConfigUpdated" })).toMatchObject([
    { args: { name: hostileName.replace("\0", ""), value: MAX.toString() } },
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
    entry(chain.contracts.twapBurner, twapBurnerAbi, "ConfigUpdated", {
      ...{ name: hostileName, value: BigInt(index) },
    }),
  );
  await chain.emit(...again);
  // A policy whose key comes again, which `outbox-due` proves for a live index.
  const sold = (buyer: typeof alice) =>
    [logs.created, logs.purchased].map((log) => log(FLASHBTC1H, 900n, buyer));
  await chain.emit(...sold(alice), logs.triggered(900n));
  await chain.emit(logs.covered(900n, 5n, 9n), ...sold(bob), logs.triggered(900n, bob));
  await chain.client.mine({ blocks: 31 }); // blocks older than 30 belong to the backfill
  await rows.caughtUp(chain.client);
  const { databaseUrl } = await startStack({ chain, services: ["indexer"] });
  const afterwards = openRows(databaseUrl);
  try {
    await afterwards.caughtUp(chain.client);
    expect(await afterwards.everything()).toEqual(await rows.everything());
    expect(await found("admin_event", { event: "ConfigUpdated" })).toHaveLength(41);
    expect(await found("replaced_policy", { policy_id: "900" })).toHaveLength(1);
  } finally {
    await afterwards.close();
  }
});

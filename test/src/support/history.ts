/**
 * A history in chapters that emits every event of the protocol. Between two chapters a test may kill an indexer or revert
 * blocks.
 */
import {
  type Abi,
  type Address,
  encodeFunctionData,
  keccak256,
  type LocalAccount,
  parseEther,
  toHex,
} from "viem";
import { bondVaultAbi } from "../../../abis/BondVault.ts";
import { buybackEngineAbi } from "../../../abis/BuybackEngine.ts";
import { claimBondAbi } from "../../../abis/ClaimBond.ts";
import { globalPauseRegistryAbi } from "../../../abis/GlobalPauseRegistry.ts";
import { policyManagerAbi } from "../../../abis/PolicyManager.ts";
import { protocolTokenAbi } from "../../../abis/ProtocolToken.ts";
import { shieldAdapterAbi } from "../../../abis/ShieldAdapter.ts";
import { shieldKeeperAbi } from "../../../abis/ShieldKeeper.ts";
import { twapBurnerAbi } from "../../../abis/TwapBurner.ts";
import { anvilAccount } from "../../../lib/chain/client.ts";
import { retireProduct } from "../../../scripts/local/protocol/deploy.ts";
import {
  catalogueTerms,
  type ProductTerms,
  retiredTerms,
  termsOf,
} from "../../../scripts/local/protocol/terms.ts";
import type { TestChain } from "../../support/chain.ts";
import * as act from "../../support/protocol-actions.ts";
import { deployHastyHolder } from "./hasty-holder.ts";

const USDC = 1_000_000n;
const HOUR = 3_600n;
const DAY = 86_400n;
const WEEK = 7n * DAY;
/** No bond matures in this month: its epoch does not exist. */
const NO_EPOCH = 7n;

const [alice, bob, carol] = [anvilAccount(2), anvilAccount(3), anvilAccount(4)];
export const buyers: readonly LocalAccount[] = [alice, bob, carol];

type HistoryContext = {
  readonly protocol: act.Protocol;
  readonly owner: LocalAccount;
  readonly relayer: LocalAccount;
};
export type Chapter = { readonly name: string; readonly play: (context: HistoryContext) => Promise<void> };

/** A call that only this history needs, so there is no action for it. */
const call = (context: HistoryContext, to: Address, abi: Abi, functionName: string, ...args: unknown[]) =>
  act.send(context.protocol, context.owner, to, encodeFunctionData({ abi, functionName, args }));

/** The epoch of the bond that paid a product's first policy. */
async function epochOf({ protocol }: HistoryContext, { productId }: ProductTerms): Promise<bigint> {
  const { client, deployment } = protocol;
  const [trigger] = await client.getContractEvents({
    abi: policyManagerAbi,
    address: deployment.contracts.policyManager,
    eventName: "PolicyTriggered",
    args: { productId, policyId: 1n },
    fromBlock: 0n,
  });
  if (!trigger) throw new Error(`the first policy of ${productId} was not triggered`);
  const receipt = await client.getTransactionReceipt({ hash: trigger.transactionHash });
  return act.onlyEvent(receipt, bondVaultAbi, "BondIssued").args.epochId;
}

/** The adapter with which the manager sells a product. */
const adapterOf = ({ protocol }: HistoryContext, { productId }: ProductTerms) =>
  protocol.client.readContract({
    abi: policyManagerAbi,
    address: protocol.deployment.contracts.policyManager,
    functionName: "productShield",
    args: [productId],
  });

const funding: Chapter = {
  name: "all accounts get USDC and approve its use",
  async play({ protocol, owner }) {
    const { coverRouter, marketplace } = protocol.deployment.contracts;
    for (const account of [...buyers, owner]) {
      await act.mintUsdc(protocol, owner, account.address, 10_000_000n * USDC);
      await act.approveUsdc(protocol, account, coverRouter);
      await act.approveUsdc(protocol, account, marketplace);
      await act.approveMarketplace(protocol, account);
    }
  },
};

/** Of these no product's barrier is a whole number of the feed's units. */
const oddPrices = [
  ["BTC", 60_123_45678901n],
  ["ETH", 2_987_65432109n],
] as const;

const purchases: Chapter = {
  name: "policies of every product of the catalogue, bought directly and through the relayer",
  async play({ protocol, owner, relayer }) {
    for (const [symbol, price] of oddPrices) await act.pushPrice(protocol, owner, symbol, price);
    for (const [index, terms] of catalogueTerms.entries()) {
      const buyer = buyers[index % buyers.length] ?? alice;
      await act.purchase(protocol, buyer, terms, 100_000n * USDC);
      await act.purchaseFor(protocol, relayer, terms, 123_456_789n + BigInt(index), alice.address);
    }
    await retireProduct(protocol.deployment, protocol.rpcUrl, owner);
  },
};

const endings: Chapter = {
  name: "two policies are triggered, one is marked as expired",
  async play({ protocol, owner }) {
    await act.trigger(protocol, bob, termsOf("FLASHBTC24-001"), 1n);
    await act.trigger(protocol, bob, termsOf("FLASHETH48-001"), 1n);
    await act.timeTravel(protocol, HOUR + 1n);
    await act.markExpired(protocol, carol, termsOf("FLASHBTC1H-001"), 1n);
    await act.refreshFeeds(protocol, owner);
  },
};

const observations: Chapter = {
  name: "a policy is observed, reset, and paid through the router; two of one holder are paid in one upkeep; another upkeep expires one",
  async play({ protocol, owner, relayer }) {
    const terms = termsOf("FLASHBTC48-001");
    const { price } = await act.latestRound(protocol, "BTC");
    await act.pushPrice(protocol, owner, "BTC", await act.triggerPrice(protocol, terms, 1n));
    // The second time in one block is too early.
    await act.observe(protocol, alice, terms, [1n, 1n]);
    await act.pushPrice(protocol, owner, "BTC", price);
    await act.observe(protocol, bob, terms, [1n]);
    await act.observeTwice(protocol, carol, terms, 1n);
    await act.submitTrigger(protocol, relayer, terms, 1n);
    await act.pushPrice(protocol, owner, "BTC", price);
    await payInOneUpkeep({ protocol, owner, relayer });
    await act.observe(protocol, carol, termsOf("FLASHBTC1H-001"), [2n]);
  },
};

/** Pays two new policies of one holder by three upkeeps of both. */
async function payInOneUpkeep({ protocol, owner }: HistoryContext): Promise<void> {
  const terms = termsOf("FLASHETH24-001");
  const { price } = await act.latestRound(protocol, "ETH");
  const policyIds: bigint[] = [];
  for (const dollars of [150n, 250n])
    policyIds.push((await act.purchase(protocol, alice, terms, dollars * USDC)).policyId);
  for (const seconds of [300n, 60n, 60n]) {
    await act.nextBlockAt(protocol, (await act.chainTime(protocol)) + seconds);
    await act.pushPrice(protocol, owner, "ETH", price / 2n);
    await act.observe(protocol, bob, terms, policyIds);
  }
  await act.pushPrice(protocol, owner, "ETH", price);
}

const market: Chapter = {
  name: "bonds are listed, sold, delisted, bought back and surrendered, and some stay listed; one seller withdraws, one does not; a holder surrenders 0 bonds of an epoch that does not exist",
  async play(context) {
    const { protocol, owner } = context;
    const epochId = await epochOf(context, termsOf("FLASHBTC24-001"));
    const sold = await act.listBond(protocol, bob, epochId, 10_000n, 11_000n * USDC);
    const cancelled = await act.listBond(protocol, bob, epochId, 500n, 700n * USDC);
    const boughtBack = await act.listBond(protocol, bob, epochId, 600n, 601n * USDC);
    await act.listBond(protocol, bob, epochId, 700n, 1_000n * USDC);
    await act.buyListing(protocol, carol, sold);
    await act.cancelListing(protocol, bob, cancelled);
    await act.mintUsdc(protocol, owner, protocol.deployment.contracts.buybackEngine, 1_000n * USDC);
    await act.buyBack(protocol, owner, boughtBack);
    await act.withdrawProceeds(protocol, bob);
    await act.listBond(protocol, carol, epochId, 50n, 60n * USDC);
    await act.surrenderBonds(protocol, carol, epochId, 77n);
    await act.surrenderBonds(protocol, alice, NO_EPOCH, 0n);
    const soldBack = await act.listBond(protocol, carol, epochId, 30n, 40n * USDC);
    await act.buyListing(protocol, bob, soldBack);
  },
};

const burns: Chapter = {
  name: "burns by the burner, one of them adaptive, and direct ones, on several days",
  async play({ protocol, owner }) {
    // Anybody may pay the burner; only the router's payments are premiums.
    await act.approveUsdc(protocol, alice, protocol.deployment.contracts.twapBurner);
    const gift = encodeFunctionData({ abi: twapBurnerAbi, functionName: "receivePremium", args: [USDC] });
    await act.send(protocol, alice, protocol.deployment.contracts.twapBurner, gift);
    for (const adaptive of [false, true, false]) {
      await act.mintUsdc(protocol, alice, protocol.deployment.contracts.twapBurner, 1_234_567n);
      await act.setAdaptiveMode(protocol, owner, adaptive, [alice.address, bob.address, carol.address]);
      await act.executeBurn(protocol, carol);
      await act.timeTravel(protocol, DAY / 2n + 7n);
      await act.refreshFeeds(protocol, owner);
    }
    await act.setTokenPrice(protocol, owner, "0.12");
    const { protocolToken } = protocol.deployment.contracts;
    const args = [alice.address, parseEther("100")] as const;
    const data = encodeFunctionData({ abi: protocolTokenAbi, functionName: "transfer", args });
    await act.send(protocol, owner, protocolToken, data);
    await act.burnTokens(protocol, alice, parseEther("3"));
    await act.setAuthorizedCaller(protocol, owner, owner.address, true);
    await act.burnReserves(protocol, owner, parseEther("1000"));
    const vaultArgs = [protocol.deployment.contracts.bondVault, parseEther("5")] as const;
    const toVault = encodeFunctionData({ abi: protocolTokenAbi, functionName: "transfer", args: vaultArgs });
    await act.send(protocol, owner, protocolToken, toVault);
  },
};

/** The retired product is sold again, and then no more. */
async function registerRetired(context: HistoryContext): Promise<void> {
  const { protocol, owner } = context;
  await act.registerProduct(protocol, owner, retiredTerms.productId, await adapterOf(context, retiredTerms));
  await act.deactivateProduct(protocol, owner, retiredTerms.productId);
}

/** An adapter gets a relayer, and the keeper contract is paused for a while. */
async function changeKeepers(context: HistoryContext): Promise<void> {
  const { shieldKeeper } = context.protocol.deployment.contracts;
  const adapter = await adapterOf(context, termsOf("FLASHETH1H-001"));
  await call(context, adapter, shieldAdapterAbi, "setRelayer", context.relayer.address);
  if (!shieldKeeper) throw new Error("the deployment has no keeper contract");
  for (const paused of [true, false]) await call(context, shieldKeeper, shieldKeeperAbi, "setPaused", paused);
}

const administration: Chapter = {
  name: "pauses, relayers, products, owners, limits and roles of market, burner and buyback engine",
  async play(context) {
    const { protocol, owner, relayer } = context;
    const { contracts } = protocol.deployment;
    await act.setRouterPaused(protocol, owner, true);
    await act.setRouterPaused(protocol, owner, false);
    await act.setGlobalPause(protocol, owner, true);
    await act.setGlobalPause(protocol, owner, false);
    for (const dollars of ["0.0049", "0.0079", "0.0081"]) {
      await act.setTokenPrice(protocol, owner, dollars);
      await act.syncCircuitBreaker(protocol, bob);
    }
    await act.setTokenPrice(protocol, owner, "0.12");
    for (const active of [false, true])
      await act.setProductActive(protocol, owner, termsOf("FLASHETH1H-001").productId, active);
    const down = await act.chainTime(protocol);
    await act.setSequencer(protocol, owner, { down: true, startedAt: down });
    await act.setSequencer(protocol, owner, { down: true, startedAt: down }); // as the feed repeats a status
    await act.setSequencer(protocol, owner, { down: false, startedAt: down + 1n });
    await act.setRelayer(protocol, owner, carol.address, true);
    await act.setRelayer(protocol, owner, carol.address, false);
    await call(context, contracts.twapBurner, twapBurnerAbi, "setBurnCooldown", 0n);
    const role = keccak256(toHex("BUYBACK_OPERATOR_ROLE"));
    await call(context, contracts.buybackEngine, buybackEngineAbi, "grantRole", role, relayer.address);
    await call(context, contracts.buybackEngine, buybackEngineAbi, "revokeRole", role, relayer.address);
    await act.setDailyBuyback(protocol, owner, 5_000n * USDC, 90n, 24n);
    await call(context, contracts.bondVault, bondVaultAbi, "setBondMaturitySeconds", 730n * DAY);
    for (const dollars of [2n, 1n]) await act.setMinimumListingPrice(protocol, owner, dollars * USDC);
    await call(context, contracts.claimBond, claimBondAbi, "setAuthorizedOperator", carol.address, false);
    await call(context, contracts.policyManager, policyManagerAbi, "removeProduct", retiredTerms.productId);
    await registerRetired(context);
    await changeKeepers(context);
    if (contracts.pauseRegistry)
      await call(
        context,
        contracts.pauseRegistry,
        globalPauseRegistryAbi,
        "transferOwnership",
        "0x000000000000000000000000000000000000dEaD",
      );
  },
};

const exceptions: Chapter = {
  name: "bonds surrendered without the vault, and bought back at a low solvency",
  async play(context) {
    const { protocol, owner } = context;
    const { bondVault, claimBond, buybackEngine } = protocol.deployment.contracts;
    const epochId = await epochOf(context, termsOf("FLASHBTC24-001"));
    await act.mintUsdc(protocol, owner, buybackEngine, 100n * USDC);
    const listingId = await act.listBond(protocol, bob, epochId, 10n, 9n * USDC);
    await act.setTokenPrice(protocol, owner, "0.00000001");
    await act.buyBack(protocol, owner, listingId);
    await act.setTokenPrice(protocol, owner, "0.12");
    await call(context, bondVault, bondVaultAbi, "setAuthorizedCaller", claimBond, false);
    await act.surrenderBonds(protocol, carol, epochId, 1n);
    await call(context, bondVault, bondVaultAbi, "setAuthorizedCaller", claimBond, true);
  },
};

const redemptions: Chapter = {
  name: "two years later: bonds redeemed at once and queued, a part of the queue paid in its week, the rest never; others wait",
  async play(context) {
    const { protocol, owner } = context;
    const epochId = await epochOf(context, termsOf("FLASHBTC24-001"));
    const week = (await act.maturityDate(protocol, epochId)) / WEEK + 1n;
    await act.mineAt(protocol, week * WEEK);
    await act.redeem(protocol, bob, epochId, 9_000n);
    // So low that the week's cap is reached.
    await act.setTokenPrice(protocol, owner, "0.0115");
    for (const dollars of [40n, 500n, 40n, 250n]) await act.redeem(protocol, carol, epochId, dollars);
    await act.setTokenPrice(protocol, owner, "0.12");
    await act.redeem(protocol, carol, epochId, 1_000n);
    await act.mineAt(protocol, (week + 1n) * WEEK);
    await act.redeem(protocol, bob, epochId, 9_000n);
    // What is left of the cap suffices for all entries but the one of 500.
    await act.setTokenPrice(protocol, owner, "0.0124");
    await act.processQueue(protocol, alice);
    await act.processQueue(protocol, alice);
    await act.setTokenPrice(protocol, owner, "0.004");
    await act.processQueue(protocol, alice);
    await act.setTokenPrice(protocol, owner, "0.12");
    await act.mineAt(protocol, (week + 2n) * WEEK);
    await act.processQueue(protocol, alice);
    await act.redeem(protocol, bob, epochId, 9_000n);
    await act.setTokenPrice(protocol, owner, "0.0115");
    for (const dollars of [7n, 8n]) await act.redeem(protocol, carol, epochId, dollars);
    await act.setTokenPrice(protocol, owner, "0.12");
    await act.refreshFeeds(protocol, owner);
  },
};

const callback: Chapter = {
  name: "a contract surrenders half of its bond before the vault has logged the issue",
  async play({ protocol, owner, relayer }) {
    const terms = termsOf("FLASHBTC24-001");
    const holder = await deployHastyHolder(protocol, owner);
    await act.mintUsdc(protocol, owner, holder, 1_000n * USDC);
    const { policyId } = await act.purchaseFor(protocol, relayer, terms, 1_000n * USDC, holder);
    await act.trigger(protocol, carol, terms, policyId);
    await act.purchase(protocol, alice, termsOf("FLASHBTC48-001"), 200n * USDC);
  },
};

/** The chapters in order; each needs the previous ones. */
export const chapters: readonly Chapter[] = [
  funding,
  purchases,
  endings,
  observations,
  market,
  burns,
  administration,
  exceptions,
  redemptions,
  callback,
];

/** The context of a history on a chain that was deployed with `retired: false`. */
export const historyContext = (chain: TestChain): HistoryContext => ({
  protocol: act.openProtocol(chain.deployment, chain.url),
  owner: chain.owner,
  relayer: chain.relayer,
});

/** Adds a few blocks of trade, at any time and any number of times, for reorganisations to revert. */
export async function trade(context: HistoryContext): Promise<void> {
  const { protocol, owner, relayer } = context;
  await act.refreshFeeds(protocol, owner);
  const terms = termsOf("FLASHETH24-001");
  await act.purchaseFor(protocol, relayer, terms, 2_500n * USDC, bob.address);
  const { policyId } = await act.purchase(protocol, carol, terms, 3_500n * USDC);
  const { epochId } = await act.trigger(protocol, carol, terms, policyId);
  const listingId = await act.listBond(protocol, carol, epochId, 100n, 150n * USDC);
  await act.buyListing(protocol, bob, listingId);
  await act.executeBurn(protocol, owner);
}

/**
 * A product gets a new adapter, and its new policies take the keys of the first ones, one of which is half observed, by its adapter also
 * after that.
 */
export async function replaceAdapter(context: HistoryContext): Promise<void> {
  const { protocol, owner, relayer } = context;
  const terms = termsOf("FLASHETH24-001");
  await act.refreshFeeds(protocol, owner);
  const { policyId } = await act.purchase(protocol, bob, terms, 404n * USDC);
  const { price } = await act.latestRound(protocol, "ETH");
  const older = await adapterOf(context, terms);
  await act.setAdapterRelayer(protocol, owner, older, relayer.address);
  const observeOlder = async (seconds: bigint) => {
    await act.nextBlockAt(protocol, (await act.chainTime(protocol)) + seconds);
    await act.pushPrice(protocol, owner, "ETH", price / 2n);
    await act.checkAndSettle(protocol, relayer, older, policyId);
    await act.pushPrice(protocol, owner, "ETH", price);
  };
  await observeOlder(300n);
  await act.replaceAdapter(protocol, owner, terms);
  for (let id = 1n; id <= policyId; id += 1n) await act.purchase(protocol, alice, terms, (100n + id) * USDC);
  await observeOlder(60n);
  await act.trigger(protocol, bob, terms, 2n);
}

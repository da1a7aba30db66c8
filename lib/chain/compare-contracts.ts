/** Compares the contracts with the interface that the service speaks: each view is called once, and constants have known values. */
import { type Abi, type Address, type Hex, zeroAddress } from "viem";
import { bondMarketplaceAbi } from "../../abis/BondMarketplace.ts";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { claimBondAbi } from "../../abis/ClaimBond.ts";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { flashShieldAbi } from "../../abis/FlashShield.ts";
import { globalPauseRegistryAbi } from "../../abis/GlobalPauseRegistry.ts";
import { policyManagerAbi } from "../../abis/PolicyManager.ts";
import { priceFeedAbi } from "../../abis/PriceFeed.ts";
import { priceOracleAbi } from "../../abis/PriceOracle.ts";
import { protocolTokenAbi } from "../../abis/ProtocolToken.ts";
import { shieldAdapterAbi } from "../../abis/ShieldAdapter.ts";
import { shieldKeeperAbi } from "../../abis/ShieldKeeper.ts";
import { twapBurnerAbi } from "../../abis/TwapBurner.ts";
import type { Contracts, Deployment } from "../deployments.ts";
import { type AssetSymbol, catalogueOf } from "../products.ts";
import { ENTRIES_PER_CALL, SAFETY_FACTOR_BPS, WEEK_CAP_BPS } from "../vault-rules.ts";
import { QUEUE_IDS_PER_WEEK } from "../vault-units.ts";
import type { ReadClient } from "./client.ts";
import { findMismatch, findRevert, isEmptyAnswer, type Revert } from "./reverts.ts";
import { UPKEEP_POLICIES } from "./trigger.ts";

/** A view that was called, and what does not fit; undefined where it does. */
export type Compared = {
  /** The contract's name, as in the deployment file. */
  readonly contract: string;
  readonly address: Address;
  readonly functionName: string;
  readonly fault: string | undefined;
  /** A difference that the release allows, with what the service assumes nevertheless. */
  readonly note?: string | undefined;
};

type Judgement = Pick<Compared, "note"> & { readonly fault?: string };

type View = {
  readonly functionName: string;
  readonly args?: readonly unknown[];
  /** Compares the answer with what the service assumes. */
  readonly judge?: (answer: unknown) => Judgement;
  /** Reverts that belong to the release; true for any, as of a view that it may lack. */
  readonly mayRevert?: true | readonly string[];
};

const view = (functionName: string, ...args: readonly unknown[]): View => ({ functionName, args });
const constant = (functionName: string, expected: bigint): View => ({
  functionName,
  judge: (answer) => (answer === expected ? {} : { fault: `is ${answer}, not ${expected}` }),
});
/** An array's getter reverts past the end: only where there is an entry the revert is a fault. */
const entryOf = (functionName: string, count: bigint, ...args: readonly unknown[]): View => ({
  ...view(functionName, ...args),
  ...(count > 0n ? {} : { mayRevert: true }),
});
const mayRevert = (functionName: string): View => ({ functionName, mayRevert: true });

/** The price oracle's errors while it has no price: a state, and no fault. */
const PRICE_ERRORS = ["OracleStale", "OracleInsufficientCardinality", "PriceDeviationTooHigh"];
const priceViews: readonly View[] = [{ functionName: "getLuminaPrice", mayRevert: PRICE_ERRORS }];

const DOLLAR = 1_000_000n;
/** No product, policy, week or listing: views answer zero for it. */
const NONE = 0n;

const routerViews = (productId: Hex, products: bigint): View[] => [
  ...[
    view("getProductCount"),
    entryOf("productList", products, NONE),
    view("getProductConfig", productId),
    view("quotePremium", productId, 100n * DOLLAR),
  ],
  ...[view("authorizedRelayers", zeroAddress), view("paused"), view("isSequencerActive")],
  ...[mayRevert("isProtocolAutoPaused"), mayRevert("MAX_COVERAGE_PER_POLICY")],
];

const managerViews = (productId: Hex): View[] => [
  ...[view("getPolicy", productId, NONE), view("productShield", productId), view("productActive", productId)],
];

/** A week of the redemption queue, and how many entries it has. */
type QueueWeek = { readonly week: bigint; readonly entries: bigint };

const vaultViews = ({ week, entries }: QueueWeek): View[] => [
  ...[view("availableCapacityUSD"), view("getStatus"), view("previewRedemption", 1n)],
  ...[view("totalCommittedUSD"), view("totalReservedUSD"), view("totalQueuedUSD")],
  ...[view("currentEpoch"), view("maxRedeemThisEpoch"), view("redeemedInEpoch", NONE)],
  ...[view("redeemedByUserInEpoch", NONE, zeroAddress), view("queueLength", NONE)],
  entryOf("queueByEpoch", entries, week, NONE),
  ...[view("queueProcessedIndex", NONE), view("MIN_REDEEM_PRICE"), view("MAX_USER_REDEEM_BPS")],
  view("priceOracle"),
  constant("SAFETY_FACTOR_BPS", SAFETY_FACTOR_BPS),
  constant("MAX_REDEMPTION_PER_EPOCH_BPS", WEEK_CAP_BPS),
  constant("MAX_PROCESS_PER_CALL", ENTRIES_PER_CALL),
  // The ids of the queue's entries leave room for so many.
  constant("MAX_QUEUE_PER_EPOCH", QUEUE_IDS_PER_WEEK),
];

const bondViews: readonly View[] = [
  ...[
    view("maturityDate", NONE),
    view("isMatured", NONE),
    view("getEpochInfo", NONE),
    view("totalSupply", NONE),
  ],
  ...[view("balanceOf", zeroAddress, NONE), view("isApprovedForAll", zeroAddress, zeroAddress)],
  view("authorizedOperators", zeroAddress),
];

const marketViews: readonly View[] = [
  ...[view("nextListingId"), view("getListing", NONE), view("pendingWithdrawals", zeroAddress)],
  ...[view("minPricePerUnit"), view("SELLER_FEE_BPS"), view("BUYER_FEE_BPS"), view("BPS_DENOMINATOR")],
];

const feedViews: readonly View[] = [constant("decimals", 8n), view("latestRoundData")];
const adapterViews: readonly View[] = [view("shield"), view("keeper"), view("relayer")];

/** The service takes an asset's rounds from the deployment file's feed, whatever the shield asks. */
const judgePriceFeed = (own: unknown, symbol: string, ofFile: Address): Judgement =>
  isSame(own, ofFile)
    ? {}
    : {
        fault: `is ${own}, not the deployment file's ${symbol} feed ${ofFile}, by which the service tells when its policies are due`,
      };

/** The service takes the sequencer's state from the deployment file's feed, whatever the shield asks. */
function judgeSequencerFeed(own: unknown, ofFile: Address): Judgement {
  if (isSame(own, ofFile)) return {};
  if (ofFile === zeroAddress)
    return {
      fault: `is ${own}, but the deployment file has none: the service takes the sequencer for always up, and this shield refuses observations while it is down`,
    };
  if (own === zeroAddress)
    return {
      note: `is the zero address: this shield never asks for the sequencer; the service makes no observation while the deployment file's feed ${ofFile} says that it is down, and in the hour after`,
    };
  return {
    fault: `is ${own}, not the deployment file's ${ofFile}, by which the service tells whether the sequencer is up`,
  };
}

const isSame = (answer: unknown, address: Address): boolean =>
  typeof answer === "string" && answer.toLowerCase() === address.toLowerCase();

const shieldViews = (symbol: AssetSymbol, { btcUsdFeed, ethUsdFeed, sequencerFeed }: Contracts): View[] => [
  ...[view("asset"), view("getPolicyInfo", NONE), view("getConfirmation", NONE)],
  {
    functionName: "priceFeed",
    judge: (own) => judgePriceFeed(own, symbol, { BTC: btcUsdFeed, ETH: ethUsdFeed }[symbol]),
  },
  { functionName: "sequencerFeed", judge: (own) => judgeSequencerFeed(own, sequencerFeed) },
];

type Subject = {
  readonly contract: string;
  readonly address: Address;
  readonly abi: Abi;
  readonly views: readonly View[];
};

const asBigint = (answer: unknown): unknown => (typeof answer === "number" ? BigInt(answer) : answer);

const isAllowed = ({ mayRevert = [] }: View, { name }: Revert): boolean =>
  mayRevert === true || mayRevert.includes(name);

type At = { readonly client: ReadClient; readonly blockNumber: bigint };

async function compareView({ client, blockNumber }: At, subject: Subject, one: View): Promise<Compared> {
  const { contract, address, abi } = subject;
  const { functionName, args = [], judge = () => ({}) } = one;
  const compared = (fault: string | undefined): Compared => ({ contract, address, functionName, fault });
  try {
    const answer = asBigint(await client.readContract({ address, abi, functionName, args, blockNumber }));
    return { ...compared(undefined), ...judge(answer) };
  } catch (error) {
    const revert = findRevert(error);
    if (revert) return compared(isAllowed(one, revert) ? undefined : `reverts: ${revert.text}`);
    if (isEmptyAnswer(error)) return compared("answers nothing");
    if (findMismatch(error)) return compared("answers otherwise than its ABI says");
    throw error;
  }
}

/** A view's answer; undefined where the view does not fit, which its own row says. */
async function answerOf<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (findRevert(error) || findMismatch(error)) return undefined;
    throw error;
  }
}

/** An address that a view answers; undefined for the zero address, and as {@link answerOf}. */
async function addressOf(read: Promise<Address>): Promise<Address | undefined> {
  const address = await answerOf(read);
  return address === zeroAddress ? undefined : address;
}

/** Finds the current week of the queue if it has an entry, and otherwise the next week. */
async function findQueue({ client, blockNumber }: At, bondVault: Address): Promise<QueueWeek> {
  const vault = { address: bondVault, abi: bondVaultAbi, blockNumber } as const;
  const current = (await answerOf(client.readContract({ ...vault, functionName: "currentEpoch" }))) ?? NONE;
  const lengthOf = async (week: bigint) =>
    (await answerOf(client.readContract({ ...vault, functionName: "queueLength", args: [week] }))) ?? 0n;
  const entries = await lengthOf(current);
  if (entries > 0n) return { week: current, entries };
  return { week: current + 1n, entries: await lengthOf(current + 1n) };
}

/** A product's adapter, and the shield behind it; undefined where there is none. */
async function shieldOf({ client, blockNumber }: At, policyManager: Address, productId: Hex) {
  const adapter = await addressOf(
    client.readContract({
      ...{ address: policyManager, abi: policyManagerAbi, blockNumber },
      functionName: "productShield",
      args: [productId],
    }),
  );
  const shield =
    adapter &&
    (await addressOf(
      client.readContract({ address: adapter, abi: shieldAdapterAbi, functionName: "shield", blockNumber }),
    ));
  return { adapter, shield };
}

/** The contracts of a deployment with their views; the adapters and shields of its catalogue are found on chain. */
async function subjectsOf(at: At, deployment: Deployment): Promise<Subject[]> {
  const { contracts: c } = deployment;
  const catalogue = catalogueOf(deployment);
  const [first] = catalogue;
  if (!first) throw new Error("the catalogue is empty");
  const adapters = await Promise.all(
    catalogue.map(async ({ name, symbol, productId }) => ({
      ...{ name, symbol },
      ...(await shieldOf(at, c.policyManager, productId)),
    })),
  );
  const { productId } = first;
  const priceOracle = await addressOf(
    at.client.readContract({
      ...{ address: c.bondVault, abi: bondVaultAbi, blockNumber: at.blockNumber },
      functionName: "priceOracle",
    }),
  );
  const router = { address: c.coverRouter, abi: coverRouterAbi };
  const count = { ...router, functionName: "getProductCount", blockNumber: at.blockNumber } as const;
  const products = (await answerOf(at.client.readContract(count))) ?? 0n;
  const queue = await findQueue(at, c.bondVault);
  return [
    { contract: "coverRouter", ...router, views: routerViews(productId, products) },
    {
      contract: "policyManager",
      address: c.policyManager,
      abi: policyManagerAbi,
      views: managerViews(productId),
    },
    { contract: "bondVault", address: c.bondVault, abi: bondVaultAbi, views: vaultViews(queue) },
    ...(priceOracle
      ? [{ contract: "priceOracle", address: priceOracle, abi: priceOracleAbi, views: priceViews }]
      : []),
    { contract: "claimBond", address: c.claimBond, abi: claimBondAbi, views: bondViews },
    { contract: "marketplace", address: c.marketplace, abi: bondMarketplaceAbi, views: marketViews },
    {
      ...{ contract: "twapBurner", address: c.twapBurner, abi: twapBurnerAbi },
      views: [view("pendingUSDC"), view("canBurn"), view("adaptiveModeEnabled")],
    },
    {
      ...{ contract: "protocolToken", address: c.protocolToken, abi: protocolTokenAbi },
      views: [view("totalSupply"), view("balanceOf", c.bondVault), constant("decimals", 18n)],
    },
    {
      ...{ contract: "usdc", address: c.usdc, abi: protocolTokenAbi },
      views: [
        view("balanceOf", c.bondVault),
        view("allowance", zeroAddress, c.coverRouter),
        constant("decimals", 6n),
      ],
    },
    { contract: "btcUsdFeed", address: c.btcUsdFeed, abi: priceFeedAbi, views: feedViews },
    { contract: "ethUsdFeed", address: c.ethUsdFeed, abi: priceFeedAbi, views: feedViews },
    ...(c.sequencerFeed === zeroAddress
      ? []
      : [
          {
            contract: "sequencerFeed",
            address: c.sequencerFeed,
            abi: priceFeedAbi,
            views: [view("latestRoundData")],
          },
        ]),
    ...(c.shieldKeeper
      ? [
          {
            ...{ contract: "shieldKeeper", address: c.shieldKeeper, abi: shieldKeeperAbi },
            views: [view("paused"), constant("MAX_POLICIES_PER_UPKEEP", BigInt(UPKEEP_POLICIES))],
          },
        ]
      : []),
    ...(c.pauseRegistry
      ? [
          {
            ...{ contract: "pauseRegistry", address: c.pauseRegistry, abi: globalPauseRegistryAbi },
            views: [view("isGloballyPaused")],
          },
        ]
      : []),
    ...adapters.flatMap(({ name, symbol, adapter, shield }): Subject[] => [
      ...(adapter
        ? [{ contract: `adapter of ${name}`, address: adapter, abi: shieldAdapterAbi, views: adapterViews }]
        : []),
      ...(shield
        ? [
            {
              contract: `shield of ${name}`,
              address: shield,
              abi: flashShieldAbi,
              views: shieldViews(symbol, c),
            },
          ]
        : []),
    ]),
  ];
}

/**
 * Calls each view that the service uses once, at one block. Rejects when the node does not answer.
 * @returns every view that was called, with its fault where it has one
 */
export async function compareContracts(
  client: ReadClient,
  deployment: Deployment,
  blockNumber: bigint,
): Promise<Compared[]> {
  const at = { client, blockNumber };
  const subjects = await subjectsOf(at, deployment);
  return Promise.all(
    subjects.flatMap((subject) => subject.views.map((one) => compareView(at, subject, one))),
  );
}

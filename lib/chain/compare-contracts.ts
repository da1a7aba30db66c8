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
import type { Deployment } from "../deployments.ts";
import { catalogueOf } from "../products.ts";
import { ENTRIES_PER_CALL, SAFETY_FACTOR_BPS, WEEK_CAP_BPS } from "../vault-rules.ts";
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
};

type View = {
  readonly functionName: string;
  readonly args?: readonly unknown[];
  /** The answer that the service assumes. */
  readonly expected?: bigint;
  /** Reverts that belong to the release; true for any, as of a view that it may lack. */
  readonly mayRevert?: true | readonly string[];
};

const view = (functionName: string, ...args: readonly unknown[]): View => ({ functionName, args });
const constant = (functionName: string, expected: bigint): View => ({ functionName, expected });
const mayRevert = (functionName: string): View => ({ functionName, mayRevert: true });

/** The price oracle's errors while it has no price: a state, and no fault. */
const PRICE_ERRORS = ["OracleStale", "OracleInsufficientCardinality", "PriceDeviationTooHigh"];
const priceViews: readonly View[] = [{ functionName: "getLuminaPrice", mayRevert: PRICE_ERRORS }];

const DOLLAR = 1_000_000n;
/** No product, policy, week or listing: views answer zero for it. */
const NONE = 0n;

const routerViews = (productId: Hex): View[] => [
  ...[
    view("getProductCount"),
    view("getProductConfig", productId),
    view("quotePremium", productId, 100n * DOLLAR),
  ],
  ...[view("authorizedRelayers", zeroAddress), view("paused"), view("isSequencerActive")],
  ...[mayRevert("isProtocolAutoPaused"), mayRevert("MAX_COVERAGE_PER_POLICY")],
];

const managerViews = (productId: Hex): View[] => [
  ...[view("getPolicy", productId, NONE), view("productShield", productId), view("productActive", productId)],
];

const vaultViews: readonly View[] = [
  ...[view("availableCapacityUSD"), view("getStatus"), view("previewRedemption", 1n)],
  ...[view("totalCommittedUSD"), view("totalReservedUSD"), view("totalQueuedUSD")],
  ...[view("currentEpoch"), view("maxRedeemThisEpoch"), view("redeemedInEpoch", NONE)],
  ...[view("redeemedByUserInEpoch", NONE, zeroAddress), view("queueLength", NONE)],
  ...[view("queueProcessedIndex", NONE), view("MIN_REDEEM_PRICE"), view("MAX_USER_REDEEM_BPS")],
  view("priceOracle"),
  constant("SAFETY_FACTOR_BPS", SAFETY_FACTOR_BPS),
  constant("MAX_REDEMPTION_PER_EPOCH_BPS", WEEK_CAP_BPS),
  constant("MAX_PROCESS_PER_CALL", ENTRIES_PER_CALL),
];

const bondViews: readonly View[] = [
  ...[
    view("maturityDate", NONE),
    view("isMatured", NONE),
    view("getEpochInfo", NONE),
    view("totalSupply", NONE),
  ],
  ...[view("balanceOf", zeroAddress, NONE), view("isApprovedForAll", zeroAddress, zeroAddress)],
];

const marketViews: readonly View[] = [
  ...[view("nextListingId"), view("getListing", NONE), view("pendingWithdrawals", zeroAddress)],
  ...[view("minPricePerUnit"), view("SELLER_FEE_BPS"), view("BUYER_FEE_BPS"), view("BPS_DENOMINATOR")],
];

const feedViews: readonly View[] = [constant("decimals", 8n), view("latestRoundData")];
const adapterViews: readonly View[] = [view("shield"), view("keeper"), view("relayer")];
const shieldViews: readonly View[] = [
  ...[view("priceFeed"), view("asset"), view("getPolicyInfo", NONE), view("getConfirmation", NONE)],
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
  const { functionName, args = [], expected } = one;
  const compared = (fault: string | undefined): Compared => ({ contract, address, functionName, fault });
  try {
    const answer = asBigint(await client.readContract({ address, abi, functionName, args, blockNumber }));
    return compared(
      expected === undefined || answer === expected ? undefined : `is ${answer}, not ${expected}`,
    );
  } catch (error) {
    const revert = findRevert(error);
    if (revert) return compared(isAllowed(one, revert) ? undefined : `reverts: ${revert.text}`);
    if (isEmptyAnswer(error)) return compared("answers nothing");
    if (findMismatch(error)) return compared("answers otherwise than its ABI says");
    throw error;
  }
}

/** An address that a view answers; undefined for the zero address, and where the view does not fit, which its own row says. */
async function addressOf(read: Promise<Address>): Promise<Address | undefined> {
  try {
    const address = await read;
    return address === zeroAddress ? undefined : address;
  } catch (error) {
    if (findRevert(error) || findMismatch(error)) return undefined;
    throw error;
  }
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
    catalogue.map(async ({ name, productId }) => ({
      name,
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
  return [
    { contract: "coverRouter", address: c.coverRouter, abi: coverRouterAbi, views: routerViews(productId) },
    {
      contract: "policyManager",
      address: c.policyManager,
      abi: policyManagerAbi,
      views: managerViews(productId),
    },
    { contract: "bondVault", address: c.bondVault, abi: bondVaultAbi, views: vaultViews },
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
    ...adapters.flatMap(({ name, adapter, shield }): Subject[] => [
      ...(adapter
        ? [{ contract: `adapter of ${name}`, address: adapter, abi: shieldAdapterAbi, views: adapterViews }]
        : []),
      ...(shield
        ? [{ contract: `shield of ${name}`, address: shield, abi: flashShieldAbi, views: shieldViews }]
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

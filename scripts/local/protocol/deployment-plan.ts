/** Plans the transactions that deploy the reference protocol. Pure: owner and nonce determine the addresses. */
import { type Address, encodeDeployData, encodeFunctionData, getContractAddress, parseEther } from "viem";
import { bondMarketplaceAbi } from "../../../abis/BondMarketplace.ts";
import { bondVaultAbi } from "../../../abis/BondVault.ts";
import { claimBondAbi } from "../../../abis/ClaimBond.ts";
import { coverRouterAbi } from "../../../abis/CoverRouter.ts";
import { flashShieldAbi } from "../../../abis/FlashShield.ts";
import { policyManagerAbi } from "../../../abis/PolicyManager.ts";
import { priceProofVerifierAbi } from "../../../abis/PriceProofVerifier.ts";
import { protocolTokenAbi } from "../../../abis/ProtocolToken.ts";
import { shieldAdapterAbi } from "../../../abis/ShieldAdapter.ts";
import { type Contracts, isComplete } from "../../../lib/deployments.ts";
import { bytecodeOf } from "./bytecode.ts";
import {
  coreCreations,
  creationOrder,
  creationsOf,
  type PlannedContracts,
  type PlannedKey,
  proxyCreation,
} from "./core-contracts.ts";
import { call, creation, type PlannedTransaction } from "./planned-transactions.ts";
import { MARGIN_BPS, PAYOUT_RATIO_BPS, type ProductTerms, triggerProbBps } from "./terms.ts";

/**
 * Minted to the vault, as on the live chain. At 0.10 USD half of their value is a capacity of 3.5 million USD; the throttle pays
 * 75,600 USD a week, and 7,560 to one holder. The burner sells tokens of the rest.
 */
export const VAULT_TOKENS = parseEther("70000000");
export const BURNER_TOKENS = parseEther("10000000");

/** One million USDC, where the deployed router has 10,000. */
const MAXIMUM_COVERAGE = 1_000_000_000_000n;

/** Contracts that a network may have already. A mock is created for each one that is not given. */
export type ExternalContracts = Partial<
  Pick<PlannedContracts, "usdc" | "btcUsdFeed" | "ethUsdFeed" | "sequencerFeed" | "priceOracle">
>;

/** A product with the addresses of its shield and of the adapter between router and shield. */
export type PlannedProduct = {
  readonly terms: ProductTerms;
  readonly shield: Address;
  readonly adapter: Address;
};

export type Plan = {
  readonly contracts: Required<Contracts>;
  /** The source of the token's price, which the service finds on chain. */
  readonly priceOracle: Address;
  readonly products: readonly PlannedProduct[];
  /** Checks the prices that the service signs; undefined without a signer. */
  readonly priceProofVerifier: Address | undefined;
  readonly transactions: readonly PlannedTransaction[];
};

export type PlanOptions = {
  /** Put on the router's allowlist. */
  readonly relayers: readonly Address[];
  /** The only signer of prices that the verifier accepts; without it no verifier is created. */
  readonly oracle: Address | undefined;
  readonly products: readonly ProductTerms[];
  readonly external?: ExternalContracts;
  /** Of a policy, USDC with 6 decimals. */
  readonly maximumCoverage?: bigint;
};

/**
 * Plans a deployment by `owner` from the nonce `firstNonce` on. The transactions must be mined in order with consecutive
 * nonces, because the contracts' constructors take the future addresses of other contracts.
 */
export function planDeployment(
  owner: Address,
  firstNonce: number,
  { relayers, oracle, products, external = {}, maximumCoverage = MAXIMUM_COVERAGE }: PlanOptions,
): Plan {
  const addressAt = (index: number) => getContractAddress({ from: owner, nonce: BigInt(firstNonce + index) });
  const given: Partial<PlannedContracts> = external;
  const created: readonly PlannedKey[] = creationOrder.filter((key) => given[key] === undefined);
  let used = 0;
  const places = created.map((key) => {
    const first = used;
    used += creationsOf(key);
    return { key, implementation: addressAt(first), address: addressAt(used - 1) };
  });
  const planned: Partial<PlannedContracts> = {
    ...given,
    ...Object.fromEntries(places.map(({ key, address }) => [key, address])),
  };
  const { priceOracle, shieldKeeper, pauseRegistry, ...required } = planned;
  if (!priceOracle || !shieldKeeper || !pauseRegistry || !isComplete(required))
    throw new Error("the order of creation lacks a contract");
  const contracts = { ...required, shieldKeeper, pauseRegistry };
  const creations = coreCreations({ ...contracts, priceOracle }, owner, maximumCoverage);
  const proxied = (creation: PlannedTransaction, what: string, implementation: Address) => [
    creation,
    proxyCreation(what, implementation, owner),
  ];
  /** The shield's implementation and proxy, then the adapter's. */
  const shields = products.map((terms, index) => {
    const at = (offset: number) => addressAt(used + index * 4 + offset);
    return { terms, implementation: at(0), shield: at(1), adapterImplementation: at(2), adapter: at(3) };
  });
  const protocol = [
    ...places.flatMap(({ key, implementation, address }) =>
      implementation === address ? [creations[key]] : proxied(creations[key], key, implementation),
    ),
    ...shields.flatMap(({ terms, implementation, shield, adapterImplementation, adapter }) => [
      ...proxied(shieldCreation(contracts, terms, adapter), `shield of ${terms.name}`, implementation),
      ...proxied(
        adapterCreation(contracts, terms, shield),
        `adapter of ${terms.name}`,
        adapterImplementation,
      ),
    ]),
    ...shields.flatMap(({ terms, adapter }) => productCalls(contracts, terms, adapter)),
    ...setupCalls(contracts, relayers),
  ];
  return {
    contracts,
    priceOracle,
    products: shields.map(({ terms, shield, adapter }) => ({ terms, shield, adapter })),
    priceProofVerifier: oracle === undefined ? undefined : addressAt(protocol.length),
    transactions: oracle === undefined ? protocol : [...protocol, verifierCreation(oracle)],
  };
}

const verifierCreation = (oracle: Address): PlannedTransaction =>
  creation(
    "PriceProofVerifier",
    encodeDeployData({
      abi: priceProofVerifierAbi,
      bytecode: bytecodeOf("PriceProofVerifier"),
      args: [oracle],
    }),
  );

export const shieldCreation = (c: Contracts, terms: ProductTerms, adapter: Address): PlannedTransaction =>
  creation(
    `shield of ${terms.name}`,
    encodeDeployData({
      abi: flashShieldAbi,
      bytecode: bytecodeOf("FlashShield"),
      args: [
        adapter,
        terms.symbol === "BTC" ? c.btcUsdFeed : c.ethUsdFeed,
        c.sequencerFeed,
        terms.asset,
        terms.durationSeconds,
        terms.triggerDropBps,
      ],
    }),
  );

export const adapterCreation = (c: Contracts, terms: ProductTerms, shield: Address): PlannedTransaction =>
  creation(
    `adapter of ${terms.name}`,
    encodeDeployData({
      abi: shieldAdapterAbi,
      bytecode: bytecodeOf("ShieldAdapter"),
      args: [c.policyManager, shield, terms.productId],
    }),
  );

/** The arguments of the router's `configureProduct`. */
export const productConfig = (terms: ProductTerms, active = true) =>
  [
    terms.productId,
    BigInt(PAYOUT_RATIO_BPS),
    BigInt(triggerProbBps(terms.premiumPpm)),
    BigInt(MARGIN_BPS),
    terms.durationSeconds,
    active,
  ] as const;

function productCalls(c: Required<Contracts>, terms: ProductTerms, adapter: Address): PlannedTransaction[] {
  return [
    call(
      `register ${terms.name}`,
      c.policyManager,
      encodeFunctionData({
        abi: policyManagerAbi,
        functionName: "registerProduct",
        args: [terms.productId, adapter],
      }),
    ),
    call(
      `configure ${terms.name}`,
      c.coverRouter,
      encodeFunctionData({
        abi: coverRouterAbi,
        functionName: "configureProduct",
        args: productConfig(terms),
      }),
    ),
    call(
      `set the premium of ${terms.name}`,
      c.coverRouter,
      encodeFunctionData({
        abi: coverRouterAbi,
        functionName: "setExactPremium",
        args: [terms.productId, BigInt(terms.premiumPpm)],
      }),
    ),
    call(
      `let the keeper settle ${terms.name}`,
      adapter,
      encodeFunctionData({ abi: shieldAdapterAbi, functionName: "setKeeper", args: [c.shieldKeeper] }),
    ),
  ];
}

function setupCalls(c: Contracts, relayers: readonly Address[]): PlannedTransaction[] {
  const allowCaller = (caller: Address) =>
    call(
      `let the vault be called by ${caller}`,
      c.bondVault,
      encodeFunctionData({ abi: bondVaultAbi, functionName: "setAuthorizedCaller", args: [caller, true] }),
    );
  return [
    call(
      "authorise the marketplace",
      c.claimBond,
      encodeFunctionData({
        abi: claimBondAbi,
        functionName: "setAuthorizedOperator",
        args: [c.marketplace, true],
      }),
    ),
    call(
      "give the market's fees to the burner",
      c.marketplace,
      encodeFunctionData({ abi: bondMarketplaceAbi, functionName: "setTwapBurner", args: [c.twapBurner] }),
    ),
    allowCaller(c.claimBond),
    allowCaller(c.buybackEngine),
    call(
      "fund the burner",
      c.protocolToken,
      encodeFunctionData({
        abi: protocolTokenAbi,
        functionName: "transfer",
        args: [c.twapBurner, BURNER_TOKENS],
      }),
    ),
    ...relayers.map((relayer) =>
      call(
        `authorise relayer ${relayer}`,
        c.coverRouter,
        encodeFunctionData({ abi: coverRouterAbi, functionName: "setRelayer", args: [relayer, true] }),
      ),
    ),
  ];
}

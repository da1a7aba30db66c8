/** Plans the transactions that deploy the reference protocol. Pure: owner and nonce determine the addresses. */
import { type Address, encodeDeployData, encodeFunctionData, getContractAddress, parseEther } from "viem";
import { bondVaultAbi } from "../../../abis/BondVault.ts";
import { claimBondAbi } from "../../../abis/ClaimBond.ts";
import { coverRouterAbi } from "../../../abis/CoverRouter.ts";
import { flashShieldAbi } from "../../../abis/FlashShield.ts";
import { policyManagerAbi } from "../../../abis/PolicyManager.ts";
import { priceProofVerifierAbi } from "../../../abis/PriceProofVerifier.ts";
import { protocolTokenAbi } from "../../../abis/ProtocolToken.ts";
import { shieldAdapterAbi } from "../../../abis/ShieldAdapter.ts";
import type { Contracts } from "../../../lib/deployments.ts";
import { bytecodeOf } from "./bytecode.ts";
import { coreCreations } from "./core-contracts.ts";
import { call, creation, type PlannedTransaction } from "./planned-transactions.ts";
import { MARGIN_BPS, PAYOUT_RATIO_BPS, type ProductTerms, triggerProbBps } from "./terms.ts";

/**
 * Half of all tokens back the bonds: a capacity of 5 million USD at 0.10 USD. The throttle pays out 54,000 USD a week. The
 * burners sell tokens of the other half.
 */
const VAULT_TOKENS = parseEther("50000000");
const BURNER_TOKENS = parseEther("10000000");

export type Plan = {
  readonly contracts: Contracts;
  /** Checks the prices that the service signs. */
  readonly priceProofVerifier: Address;
  /** Makes many calls in one transaction. */
  readonly multicall3: Address;
  readonly transactions: readonly PlannedTransaction[];
};

export type PlanOptions = {
  /** Put on the router's allowlist. */
  readonly relayers: readonly Address[];
  /** The only signer of prices that the verifier accepts. */
  readonly oracle: Address;
  readonly products: readonly ProductTerms[];
};

/**
 * Plans a deployment by `owner` from the nonce `firstNonce` on. The transactions must be mined in order with consecutive
 * nonces, because the contracts' constructors take the future addresses of other contracts.
 */
export function planDeployment(
  owner: Address,
  firstNonce: number,
  { relayers, oracle, products }: PlanOptions,
): Plan {
  const addressAt = (index: number) => getContractAddress({ from: owner, nonce: BigInt(firstNonce + index) });
  const contracts: Contracts = {
    protocolToken: addressAt(0),
    usdc: addressAt(1),
    btcUsdFeed: addressAt(2),
    ethUsdFeed: addressAt(3),
    tokenUsdFeed: addressAt(4),
    sequencerFeed: addressAt(5),
    pauseRegistry: addressAt(6),
    twapBurner: addressAt(7),
    buybackEngine: addressAt(8),
    bondVault: addressAt(9),
    claimBond: addressAt(10),
    policyManager: addressAt(11),
    coverRouter: addressAt(12),
    marketplace: addressAt(13),
  };
  const core = coreCreations(contracts, owner);
  const shields = products.map((terms, index) => {
    const shield = addressAt(core.length + index * 2);
    const adapter = addressAt(core.length + index * 2 + 1);
    return { terms, shield, adapter };
  });
  const transactions = [
    ...core,
    ...shields.flatMap(({ terms, shield, adapter }) => shieldCreations(contracts, terms, shield, adapter)),
    ...shields.flatMap(({ terms, adapter }) => productCalls(contracts, terms, adapter)),
    ...setupCalls(contracts, relayers),
  ];
  return {
    contracts,
    priceProofVerifier: addressAt(transactions.length),
    multicall3: addressAt(transactions.length + 1),
    transactions: [
      ...transactions,
      verifierCreation(oracle),
      creation("Multicall3", bytecodeOf("Multicall3")),
    ],
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

function shieldCreations(
  c: Contracts,
  terms: ProductTerms,
  shield: Address,
  adapter: Address,
): PlannedTransaction[] {
  const feed = terms.symbol === "BTC" ? c.btcUsdFeed : c.ethUsdFeed;
  return [
    creation(
      `shield of ${terms.name}`,
      encodeDeployData({
        abi: flashShieldAbi,
        bytecode: bytecodeOf("FlashShield"),
        args: [
          adapter,
          feed,
          c.sequencerFeed,
          terms.name,
          terms.asset,
          terms.durationSeconds,
          terms.triggerDropBps,
        ],
      }),
    ),
    creation(
      `adapter of ${terms.name}`,
      encodeDeployData({
        abi: shieldAdapterAbi,
        bytecode: bytecodeOf("ShieldAdapter"),
        args: [c.coverRouter, shield],
      }),
    ),
  ];
}

/** The terms of a product as the router's struct. */
export const productConfig = (terms: ProductTerms, adapter: Address) => ({
  shield: adapter,
  asset: terms.asset,
  payoutRatioBps: PAYOUT_RATIO_BPS,
  triggerProbBps: triggerProbBps(terms.premiumPpm),
  marginBps: MARGIN_BPS,
  triggerDropBps: terms.triggerDropBps,
  premiumPpm: terms.premiumPpm,
  durationSeconds: terms.durationSeconds,
  waitingSeconds: terms.waitingSeconds,
  active: true,
  legacy: terms.generation === "legacy",
  paused: false,
});

function productCalls(c: Contracts, terms: ProductTerms, adapter: Address): PlannedTransaction[] {
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
        args: [terms.name, productConfig(terms, adapter)],
      }),
    ),
  ];
}

function setupCalls(c: Contracts, relayers: readonly Address[]): PlannedTransaction[] {
  const transfer = (to: Address) =>
    call(
      "fund a burner",
      c.protocolToken,
      encodeFunctionData({ abi: protocolTokenAbi, functionName: "transfer", args: [to, BURNER_TOKENS] }),
    );
  return [
    call(
      "authorise the marketplace",
      c.claimBond,
      encodeFunctionData({ abi: claimBondAbi, functionName: "setOperator", args: [c.marketplace, true] }),
    ),
    call(
      "approve the vault",
      c.protocolToken,
      encodeFunctionData({
        abi: protocolTokenAbi,
        functionName: "approve",
        args: [c.bondVault, VAULT_TOKENS],
      }),
    ),
    call(
      "fill the vault",
      c.bondVault,
      encodeFunctionData({ abi: bondVaultAbi, functionName: "deposit", args: [VAULT_TOKENS] }),
    ),
    transfer(c.twapBurner),
    transfer(c.buybackEngine),
    ...relayers.map((relayer) =>
      call(
        `authorise relayer ${relayer}`,
        c.coverRouter,
        encodeFunctionData({ abi: coverRouterAbi, functionName: "setRelayer", args: [relayer, true] }),
      ),
    ),
  ];
}

/** Pauses the V5.0 product and deactivates the withdrawn one, as in release V5.4. */
export const retirementCalls = (c: Contracts, products: readonly ProductTerms[]): PlannedTransaction[] =>
  products.flatMap((terms) => retirementOf(c, terms));

function retirementOf(c: Contracts, { name, productId, generation }: ProductTerms): PlannedTransaction[] {
  switch (generation) {
    case "catalogue":
      return [];
    case "legacy":
      return [
        call(
          `pause ${name}`,
          c.coverRouter,
          encodeFunctionData({
            abi: coverRouterAbi,
            functionName: "setProductPaused",
            args: [productId, true],
          }),
        ),
      ];
    case "withdrawn":
      return [
        call(
          `deactivate ${name}`,
          c.policyManager,
          encodeFunctionData({
            abi: policyManagerAbi,
            functionName: "deactivateProduct",
            args: [productId],
          }),
        ),
      ];
  }
}

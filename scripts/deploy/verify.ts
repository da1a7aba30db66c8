/** Reads a deployment back from the chain: code, owners, wiring, funds, relayers and products. */
import { type Address, getAddress, isAddress } from "viem";
import { bondMarketplaceAbi } from "../../abis/BondMarketplace.ts";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { buybackEngineAbi } from "../../abis/BuybackEngine.ts";
import { claimBondAbi } from "../../abis/ClaimBond.ts";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { globalPauseRegistryAbi } from "../../abis/GlobalPauseRegistry.ts";
import { policyManagerAbi } from "../../abis/PolicyManager.ts";
import { priceProofVerifierAbi } from "../../abis/PriceProofVerifier.ts";
import { protocolTokenAbi } from "../../abis/ProtocolToken.ts";
import { shieldKeeperAbi } from "../../abis/ShieldKeeper.ts";
import { twapBurnerAbi } from "../../abis/TwapBurner.ts";
import type { ReadClient } from "../../lib/chain/client.ts";
import { errorText } from "../../lib/log.ts";
import { BURNER_TOKENS, type Plan, VAULT_TOKENS } from "../local/protocol/deployment-plan.ts";
import { productReads } from "./verify-products.ts";

/** A value on the chain, what it must be, and its name in a fault. */
export type Expectation = readonly [what: string, actual: Promise<unknown>, expected: unknown];

export type Deployed = {
  readonly client: ReadClient;
  readonly plan: Plan;
  readonly owner: Address;
  readonly relayers: readonly Address[];
  readonly oracle: Address | undefined;
  /** The block to read at: a node behind others has no older one than the last transaction's. */
  readonly blockNumber: bigint;
};

const shown = (value: unknown): string =>
  typeof value === "string" && isAddress(value) ? getAddress(value) : String(value);

async function codeFault(
  { client, blockNumber }: Deployed,
  what: string,
  address: Address,
): Promise<string | undefined> {
  const code = await client.getCode({ address, blockNumber });
  return code === undefined || code === "0x" ? `${what} ${address} has no code` : undefined;
}

async function faultOf([what, actual, expected]: Expectation): Promise<string | undefined> {
  try {
    const [is, must] = [shown(await actual), shown(expected)];
    return is === must ? undefined : `${what} is ${is}, and must be ${must}`;
  } catch (error) {
    return `${what} cannot be read: ${errorText(error)}`;
  }
}

/** Owners, and the addresses that the contracts have of each other. */
function wiring({
  client,
  plan: { contracts: c, priceOracle },
  owner,
  blockNumber,
}: Deployed): Expectation[] {
  const router = { address: c.coverRouter, abi: coverRouterAbi, blockNumber } as const;
  const manager = { address: c.policyManager, abi: policyManagerAbi, blockNumber } as const;
  const vault = { address: c.bondVault, abi: bondVaultAbi, blockNumber } as const;
  const bond = { address: c.claimBond, abi: claimBondAbi, blockNumber } as const;
  const market = { address: c.marketplace, abi: bondMarketplaceAbi, blockNumber } as const;
  const burner = { address: c.twapBurner, abi: twapBurnerAbi, blockNumber } as const;
  const engine = { address: c.buybackEngine, abi: buybackEngineAbi, blockNumber } as const;
  const pauses = { address: c.pauseRegistry, abi: globalPauseRegistryAbi, blockNumber } as const;
  const keeper = { address: c.shieldKeeper, abi: shieldKeeperAbi, blockNumber } as const;
  const { readContract: read } = client;
  return [
    ["coverRouter.owner", read({ ...router, functionName: "owner" }), owner],
    ["coverRouter.policyManager", read({ ...router, functionName: "policyManager" }), c.policyManager],
    ["coverRouter.usdc", read({ ...router, functionName: "usdc" }), c.usdc],
    ["coverRouter.twapBurner", read({ ...router, functionName: "twapBurner" }), c.twapBurner],
    [
      "coverRouter.globalPauseRegistry",
      read({ ...router, functionName: "globalPauseRegistry" }),
      c.pauseRegistry,
    ],
    ["coverRouter.capacityOracle", read({ ...router, functionName: "capacityOracle" }), priceOracle],
    ["coverRouter.sequencerFeed", read({ ...router, functionName: "sequencerFeed" }), c.sequencerFeed],
    ["coverRouter.paused", read({ ...router, functionName: "paused" }), false],
    ["policyManager.owner", read({ ...manager, functionName: "owner" }), owner],
    ["policyManager.router", read({ ...manager, functionName: "router" }), c.coverRouter],
    ["policyManager.bondVault", read({ ...manager, functionName: "bondVault" }), c.bondVault],
    ["bondVault.owner", read({ ...vault, functionName: "owner" }), owner],
    ["bondVault.policyManager", read({ ...vault, functionName: "policyManager" }), c.policyManager],
    ["bondVault.claimBond", read({ ...vault, functionName: "claimBond" }), c.claimBond],
    ["bondVault.lumina", read({ ...vault, functionName: "lumina" }), c.protocolToken],
    ["bondVault.priceOracle", read({ ...vault, functionName: "priceOracle" }), priceOracle],
    ["claimBond.owner", read({ ...bond, functionName: "owner" }), owner],
    ["claimBond.vault", read({ ...bond, functionName: "vault" }), c.bondVault],
    [
      `claimBond.authorizedOperators(${c.marketplace})`,
      read({ ...bond, functionName: "authorizedOperators", args: [c.marketplace] }),
      true,
    ],
    ...[c.claimBond, c.buybackEngine].map(
      (caller): Expectation => [
        `bondVault.authorizedCallers(${caller})`,
        read({ ...vault, functionName: "authorizedCallers", args: [caller] }),
        true,
      ],
    ),
    ["marketplace.owner", read({ ...market, functionName: "owner" }), owner],
    ["marketplace.claimBond", read({ ...market, functionName: "claimBond" }), c.claimBond],
    ["marketplace.usdc", read({ ...market, functionName: "usdc" }), c.usdc],
    ["marketplace.twapBurner", read({ ...market, functionName: "twapBurner" }), c.twapBurner],
    ["twapBurner.owner", read({ ...burner, functionName: "owner" }), owner],
    ["twapBurner.usdc", read({ ...burner, functionName: "usdc" }), c.usdc],
    ["twapBurner.token", read({ ...burner, functionName: "token" }), c.protocolToken],
    ["twapBurner.priceOracle", read({ ...burner, functionName: "priceOracle" }), priceOracle],
    ["twapBurner.treasury", read({ ...burner, functionName: "treasury" }), owner],
    ["buybackEngine.owner", read({ ...engine, functionName: "owner" }), owner],
    ["buybackEngine.usdc", read({ ...engine, functionName: "usdc" }), c.usdc],
    ["buybackEngine.marketplace", read({ ...engine, functionName: "marketplace" }), c.marketplace],
    ["buybackEngine.claimBond", read({ ...engine, functionName: "claimBond" }), c.claimBond],
    ["buybackEngine.vault", read({ ...engine, functionName: "vault" }), c.bondVault],
    ["buybackEngine.priceOracle", read({ ...engine, functionName: "priceOracle" }), priceOracle],
    ["shieldKeeper.owner", read({ ...keeper, functionName: "owner" }), owner],
    ["shieldKeeper.policyManager", read({ ...keeper, functionName: "policyManager" }), c.policyManager],
    ["shieldKeeper.paused", read({ ...keeper, functionName: "paused" }), false],
    ["pauseRegistry.owner", read({ ...pauses, functionName: "owner" }), owner],
    ["pauseRegistry.isGloballyPaused", read({ ...pauses, functionName: "isGloballyPaused" }), false],
  ];
}

/** The tokens of vault and burner, the router's relayers and the verifier's signer. */
function settings({ client, plan, relayers, oracle, blockNumber }: Deployed): Expectation[] {
  const { contracts: c, priceProofVerifier } = plan;
  const router = { address: c.coverRouter, abi: coverRouterAbi, blockNumber } as const;
  const token = { address: c.protocolToken, abi: protocolTokenAbi, blockNumber } as const;
  return [
    [
      "protocolToken.balanceOf(bondVault)",
      client.readContract({ ...token, functionName: "balanceOf", args: [c.bondVault] }),
      VAULT_TOKENS,
    ],
    [
      "protocolToken.balanceOf(twapBurner)",
      client.readContract({ ...token, functionName: "balanceOf", args: [c.twapBurner] }),
      BURNER_TOKENS,
    ],
    ...relayers.map(
      (relayer): Expectation => [
        `coverRouter.authorizedRelayers(${relayer})`,
        client.readContract({ ...router, functionName: "authorizedRelayers", args: [relayer] }),
        true,
      ],
    ),
    ...(priceProofVerifier === undefined
      ? []
      : [
          [
            "priceProofVerifier.oracleKey",
            client.readContract({
              address: priceProofVerifier,
              abi: priceProofVerifierAbi,
              functionName: "oracleKey",
              blockNumber,
            }),
            oracle,
          ] satisfies Expectation,
        ]),
  ];
}

/** Every contract of a plan, by its name. */
function addressesOf(plan: Plan): [string, Address][] {
  const { contracts, priceOracle, products, priceProofVerifier } = plan;
  return [
    ...Object.entries(contracts),
    ["priceOracle", priceOracle],
    ...products.flatMap(({ terms, shield, adapter }): [string, Address][] => [
      [`shield of ${terms.name}`, shield],
      [`adapter of ${terms.name}`, adapter],
    ]),
    ...(priceProofVerifier === undefined
      ? []
      : [["priceProofVerifier", priceProofVerifier] satisfies [string, Address]]),
  ];
}

/** Contracts and values that were read and compared, and one line for each that is not as planned. */
export async function verifyDeployment(deployed: Deployed): Promise<{ checked: number; faults: string[] }> {
  const addresses = addressesOf(deployed.plan);
  const missing = await Promise.all(addresses.map(([what, address]) => codeFault(deployed, what, address)));
  const expectations = [...wiring(deployed), ...settings(deployed), ...productReads(deployed)];
  const different = await Promise.all(expectations.map(faultOf));
  return {
    checked: addresses.length + expectations.length,
    faults: [...missing, ...different].filter((fault) => fault !== undefined),
  };
}

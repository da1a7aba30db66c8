import { readFileSync } from "node:fs";
import { type Address, getAddress, isAddress } from "viem";
import { z } from "zod";
import { ConfigError } from "./config-error.ts";
import { assetSymbols } from "./products.ts";

/** The protocol's contracts that every deployment file names, by their keys in `GET /health`. */
export const contractKeys = [
  "coverRouter",
  "policyManager",
  "bondVault",
  "claimBond",
  "marketplace",
  "twapBurner",
  "buybackEngine",
  "protocolToken",
  "usdc",
  "btcUsdFeed",
  "ethUsdFeed",
  "sequencerFeed",
] as const;
export type ContractKey = (typeof contractKeys)[number];
/** Contracts that a chain may lack; what needs them is then absent. */
export const optionalContractKeys = ["shieldKeeper", "pauseRegistry"] as const;
export type OptionalContractKey = (typeof optionalContractKeys)[number];
export type Contracts = Readonly<
  Record<ContractKey, Address> & Partial<Record<OptionalContractKey, Address>>
>;

const address = z
  .custom<Address>((text) => typeof text === "string" && isAddress(text, { strict: false }), {
    error: "is not an address",
  })
  .transform((text) => getAddress(text));

const deploymentSchema = z.object({
  chainId: z.int().positive(),
  /** The chain's name as clients see it. */
  name: z.string().min(1),
  /** True only for a chain on this machine. */
  local: z.boolean().default(false),
  release: z.string().default("V5.4"),
  /** The block from which the indexer reads: that of the first deployed contract, or an earlier one. */
  startBlock: z.int().nonnegative(),
  explorerUrl: z.string().nullable().default(null),
  contracts: z.partialRecord(z.enum([...contractKeys, ...optionalContractKeys]), address),
  /** Products beside the six of the catalogue, with what the contracts have no getter for. */
  products: z
    .array(
      z.strictObject({
        name: z.string().min(1),
        asset: z.enum(assetSymbols),
        triggerDropBps: z.int().positive().max(9_999),
        durationSeconds: z.int().positive(),
      }),
    )
    .default([]),
  /** The EIP-712 domain of signed prices, and the contract that checks them; without it no price is signed. */
  oracle: z
    .object({ name: z.string().min(1), version: z.string().min(1), verifyingContract: address })
    .optional(),
});

/** The content of a deployment file: one chain and its contracts. */
export type Deployment = Omit<z.output<typeof deploymentSchema>, "contracts"> & { contracts: Contracts };
/** A deployment file without the addresses of some contracts. */
export type IncompleteDeployment = Omit<Deployment, "contracts"> & {
  contracts: Partial<Contracts>;
  missing: readonly ContractKey[];
};

/** True when every contract has an address. */
export function isComplete(contracts: Partial<Contracts>): contracts is Contracts {
  return contractKeys.every((key) => contracts[key] !== undefined);
}

/**
 * Reads a deployment file. `missing` names contracts without an address: the API starts without them and reports them.
 * @throws {ConfigError} when the file does not exist, is not JSON, or has an invalid value.
 */
export function readDeployment(file: string): Deployment | IncompleteDeployment {
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new ConfigError([
      `DEPLOYMENT_FILE ${file}: ${error instanceof Error ? error.message : String(error)}`,
    ]);
  }
  const result = deploymentSchema.safeParse(json);
  if (!result.success) {
    throw new ConfigError(
      result.error.issues.map((i) => `DEPLOYMENT_FILE ${file}: ${i.path.join(".")} ${i.message}`),
    );
  }
  const { contracts, ...rest } = result.data;
  if (isComplete(contracts)) return { ...rest, contracts };
  return { ...rest, contracts, missing: contractKeys.filter((key) => contracts[key] === undefined) };
}

/** Reads a deployment file for a process that needs every contract. @throws {ConfigError} also when one is missing. */
export function requireDeployment(file: string): Deployment {
  const deployment = readDeployment(file);
  if ("missing" in deployment) {
    throw new ConfigError(
      deployment.missing.map((key) => `DEPLOYMENT_FILE ${file}: contracts.${key} is missing`),
    );
  }
  return deployment;
}

/** Base Sepolia, or an anvil with its chain id: the contracts sell on no other test network. */
const TESTNET_CHAIN_ID = 84532;

/**
 * Reads the deployment file of the testnet.
 * @throws {ConfigError} also when the chain is no testnet, because sandbox and faucet may only spend worthless money, or has
 *   the main chain's id, by which the ledger identifies chains.
 */
export function requireTestnetDeployment(file: string, mainChainId: number): Deployment {
  let deployment: Deployment;
  try {
    deployment = requireDeployment(file);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ConfigError(error.faults.map((fault) => `TESTNET_${fault}`));
  }
  if (deployment.chainId === mainChainId) {
    throw new ConfigError([
      `TESTNET_DEPLOYMENT_FILE ${file}: chain ${mainChainId} is also the main chain of DEPLOYMENT_FILE`,
    ]);
  }
  if (deployment.chainId === TESTNET_CHAIN_ID) return deployment;
  throw new ConfigError([
    `TESTNET_DEPLOYMENT_FILE ${file}: chain ${deployment.chainId} is no testnet; sandbox and faucet work only on ${TESTNET_CHAIN_ID}`,
  ]);
}

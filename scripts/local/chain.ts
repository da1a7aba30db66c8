/** A local chain with the protocol on it. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Address } from "viem";
import { anvilAccount } from "../../lib/chain/client.ts";
import type { Deployment } from "../../lib/deployments.ts";
import type { Anvil } from "./anvil.ts";
import { deployProtocol } from "./protocol/deploy.ts";
import { fundKeeper, oracleSigner } from "./service-wallets.ts";

export type LocalChain = {
  readonly url: string;
  readonly wsUrl: string;
  readonly deployment: Deployment;
  /** The service's processes read the contracts' addresses from this file. */
  readonly deploymentFile: string;
};

export type DeployOnAnvilOptions = {
  /** The chain's name as clients see it. */
  readonly name: string;
  /** Put on the router's allowlist. */
  readonly relayers: readonly Address[];
  /** See `deployProtocol`. */
  readonly retired: boolean;
  /** See `deployProtocol`. */
  readonly maximumCoverage?: bigint;
  /** With `false` Ponder caches the chain's RPC answers; true when left out. */
  readonly local?: boolean;
  readonly deploymentFile: string;
};

/**
 * Deploys the protocol from anvil's account 0, which then owns every contract, and writes the deployment file. The keeper's
 * wallet has ether in every block from the first transaction's on, so that no reorganisation takes it away.
 */
export async function deployOnAnvil(
  anvil: Anvil,
  { deploymentFile, local = true, ...options }: DeployOnAnvilOptions,
): Promise<LocalChain> {
  const { url: rpcUrl, chainId } = anvil;
  const [owner, oracle] = [anvilAccount(0), oracleSigner.address];
  await fundKeeper(rpcUrl);
  const deployment = await deployProtocol({ ...options, rpcUrl, chainId, owner, oracle, local });
  return writeDeployment(anvil, deployment, deploymentFile);
}

/** Writes the deployment file of a chain. */
export function writeDeployment(
  { url, wsUrl }: Anvil,
  deployment: Deployment,
  deploymentFile: string,
): LocalChain {
  mkdirSync(dirname(deploymentFile), { recursive: true });
  writeFileSync(deploymentFile, `${JSON.stringify(deployment, null, 2)}\n`);
  return { url, wsUrl, deployment, deploymentFile };
}

import { isLocal } from "../../lib/chain/client.ts";
import type { WriterConfig } from "../../lib/config.ts";
import { ConfigError } from "../../lib/config-error.ts";
import { type Deployment, requireDeployment, requireTestnetDeployment } from "../../lib/deployments.ts";
import type { Logger } from "../../lib/log.ts";
import type { Meter } from "../metrics/relay-meter.ts";
import { type Chain, openChain } from "../relayer/chain.ts";
import { requireFittingKeys, type VariableKeys } from "./wallet-keys.ts";

/** A chain that the writer sends to: its contracts, and the client of its node. */
export type DeployedChain = { deployment: Deployment; chain: Chain };

/** Options for starting the services of a chain. */
export type ChainServiceOptions = DeployedChain & { config: WriterConfig; meter: Meter; log: Logger };

/**
 * Reads the deployment files of the main chain and, where one is configured, of the testnet. Sends no request to a
 * node. Throws {@link ConfigError}.
 */
export function openChains(
  config: Pick<WriterConfig, "RPC_URL" | "DEPLOYMENT_FILE" | "TESTNET_RPC_URL" | "TESTNET_DEPLOYMENT_FILE">,
): {
  main: DeployedChain;
  testnet: DeployedChain | undefined;
} {
  const deployment = requireDeployment(config.DEPLOYMENT_FILE);
  const main = { deployment, chain: openChain(deployment, config.RPC_URL) };
  const { TESTNET_RPC_URL: rpcUrl, TESTNET_DEPLOYMENT_FILE: file } = config;
  if (rpcUrl === undefined || file === undefined) return { main, testnet: undefined };
  const other = requireTestnetDeployment(file, deployment.chainId);
  return { main, testnet: { deployment: other, chain: openChain(other, rpcUrl) } };
}

/**
 * Checks that the node serves the chain of the deployment file, and that the keys fit that chain. `prefix` is the
 * prefix of the chain's variables, for the error. Rejects with {@link ConfigError} when one of them does not match, and
 * with another error when the node does not answer.
 * @returns whether the chain is a local one.
 */
export async function verifyChain(
  { chain, deployment }: DeployedChain,
  keys: readonly VariableKeys[],
  prefix: "" | "TESTNET_",
): Promise<boolean> {
  const actual = await chain.client.getChainId();
  if (actual !== deployment.chainId) {
    throw new ConfigError([
      `${prefix}RPC_URL serves chain ${actual}, but ${prefix}DEPLOYMENT_FILE describes chain ${deployment.chainId}`,
    ]);
  }
  const local = await isLocal(chain.client, deployment);
  requireFittingKeys(keys, local);
  return local;
}

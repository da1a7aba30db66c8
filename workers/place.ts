import { isLocal } from "../lib/chain/client.ts";
import { ConfigError, type WriterConfig } from "../lib/config.ts";
import { type Deployment, requireDeployment, requireTestnetDeployment } from "../lib/deployments.ts";
import { type NamedKeys, requireFittingKeys } from "./keys.ts";
import { type Chain, openChain } from "./relayer/chain.ts";

/** A chain that the writer sends to. */
export type Place = { deployment: Deployment; chain: Chain };

/** The main chain, and the testnet where there is one. Asks no node. Throws {@link ConfigError}. */
export function openPlaces(config: WriterConfig): { main: Place; testnet: Place | undefined } {
  const deployment = requireDeployment(config.DEPLOYMENT_FILE);
  const main = { deployment, chain: openChain(deployment, config.RPC_URL) };
  const { TESTNET_RPC_URL: rpcUrl, TESTNET_DEPLOYMENT_FILE: file } = config;
  if (rpcUrl === undefined || file === undefined) return { main, testnet: undefined };
  const other = requireTestnetDeployment(file, deployment.chainId);
  return { main, testnet: { deployment: other, chain: openChain(other, rpcUrl) } };
}

/**
 * Asks the node whether it serves the chain of its deployment file, for which these keys fit. `prefix` is that of its
 * variables. Rejects with {@link ConfigError} when not, and with another error when the node does not answer.
 * @returns whether the chain is a local one.
 */
export async function requirePlace(
  { chain, deployment }: Place,
  keys: readonly NamedKeys[],
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

import { pbkdf2Sync } from "node:crypto";
import { createPublicClient, defineChain } from "viem";
import { type HDAccount, HDKey, hdKeyToAccount } from "viem/accounts";
import type { Deployment } from "../deployments.ts";
import { nodeTransport } from "./node-transport.ts";

/** The viem chain of a deployment; `rpcUrl` is the URL of this process's node. */
export function chainOf(deployment: Pick<Deployment, "chainId" | "name">, rpcUrl: string) {
  return defineChain({
    id: deployment.chainId,
    name: deployment.name,
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
  });
}

/**
 * A client for reads. Unless `batch` is false, calls of one tick share one HTTP request, because providers limit requests; with
 * `together`, contract reads of one tick and block are one `eth_call`, because providers bill calls: a contract that is sent along makes
 * them (Multicall3, which the chain need not have). A call fails after `timeout` ms without an answer (default 5 s); after a transport
 * error it is repeated `retryCount` times (default 1).
 */
export function createReadClient(
  deployment: Pick<Deployment, "chainId" | "name">,
  rpcUrl: string,
  {
    timeout = 5000,
    retryCount = 1,
    batch = true,
    together = false,
  }: { timeout?: number; retryCount?: number; batch?: boolean; together?: boolean } = {},
) {
  return createPublicClient({
    chain: chainOf(deployment, rpcUrl),
    transport: nodeTransport(rpcUrl, {
      timeout,
      retryCount,
      retryDelay: 100,
      batch: batch && { batchSize: 100 },
    }),
    batch: together ? { multicall: { deployless: true } } : {},
    pollingInterval: 500,
    cacheTime: 0,
  });
}

export type ReadClient = ReturnType<typeof createReadClient>;

/** The option of a contract read that pins it to a block; without a number it reads the latest block. */
export const atBlock = (blockNumber: bigint | undefined) =>
  blockNumber === undefined ? {} : { blockNumber };

const ANVIL_MNEMONIC = "test test test test test test test test test test test junk";

let anvilWallet: HDKey | undefined;
const anvilAccounts = new Map<number, HDAccount>();

/** The seed by BIP-39. viem's own implementation takes 60 ms of JavaScript for each account. */
const anvilSeed = () => pbkdf2Sync(ANVIL_MNEMONIC, "mnemonic", 2048, 64, "sha512");

/** An account of anvil's well-known mnemonic. Its key is public, so it is for local chains only. */
export function anvilAccount(index: number): HDAccount {
  const known = anvilAccounts.get(index);
  if (known) return known;
  anvilWallet ??= HDKey.fromMasterSeed(anvilSeed());
  const account = hdKeyToAccount(anvilWallet, { addressIndex: index });
  anvilAccounts.set(index, account);
  return account;
}

/** True when the node reports itself as anvil. */
export async function isAnvil(client: ReadClient): Promise<boolean> {
  const version = await client.request<{
    Method: "web3_clientVersion";
    Parameters?: undefined;
    ReturnType: string;
  }>({
    method: "web3_clientVersion",
  });
  return version.toLowerCase().startsWith("anvil/");
}

/**
 * True when the chain is a local one: the deployment file says so **and** the node reports itself as anvil. Only there
 * are anvil's keys and the default tokens accepted.
 */
export const isLocal = async (client: ReadClient, deployment: Pick<Deployment, "local">): Promise<boolean> =>
  deployment.local && (await isAnvil(client));

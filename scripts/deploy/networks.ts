/** Tells test networks from main networks by their chain ids. */
import type { Chain } from "viem";
import * as knownChains from "viem/chains";

export type Network =
  | { readonly kind: "test"; readonly name: string; readonly explorerUrl: string | null }
  | { readonly kind: "main"; readonly name: string }
  | { readonly kind: "unknown" };

/** The local nodes' default id. viem does not mark it as a test network's. */
const LOCAL_CHAIN_ID = 31337;

/** The network with this chain id. An id that main networks share with test networks counts as a main network's. */
export function networkOf(chainId: number): Network {
  const chains: readonly Chain[] = Object.values(knownChains).filter(({ id }) => id === chainId);
  const main = chains.find(({ testnet }) => testnet !== true);
  if (main !== undefined && chainId !== LOCAL_CHAIN_ID) return { kind: "main", name: main.name };
  const [known] = chains;
  if (known === undefined) return { kind: "unknown" };
  return { kind: "test", name: known.name, explorerUrl: known.blockExplorers?.default.url ?? null };
}

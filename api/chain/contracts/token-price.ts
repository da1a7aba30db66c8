import type { Address } from "viem";
import { bondVaultAbi } from "../../../abis/BondVault.ts";
import { priceOracleAbi } from "../../../abis/PriceOracle.ts";
import { atBlock, type ReadClient } from "../../../lib/chain/client.ts";
import { findRevert } from "../../../lib/chain/reverts.ts";
import type { Contracts } from "../../../lib/deployments.ts";

/** The price of the protocol's token in USD, 18 decimals, and its source; null while the source fails or has none. */
export type TokenPrice = { readonly oracle: Address; readonly price: bigint | null };

/** Reads the price of the vault's oracle at a block, by default the newest. Rejects when the node does not answer. */
export async function readTokenPrice(
  chain: ReadClient,
  { bondVault }: Contracts,
  blockNumber?: bigint,
): Promise<TokenPrice> {
  const at = atBlock(blockNumber);
  const vault = { address: bondVault, abi: bondVaultAbi, ...at } as const;
  const oracle = await chain.readContract({ ...vault, functionName: "priceOracle" });
  const read = { address: oracle, abi: priceOracleAbi, functionName: "getLuminaPrice", ...at } as const;
  try {
    const price = await chain.readContract(read);
    return { oracle, price: price > 0n ? price : null };
  } catch (error) {
    // A revert is the only way in which the oracle says that it has no price.
    if (findRevert(error)) return { oracle, price: null };
    throw error;
  }
}

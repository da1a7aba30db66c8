import { erc20Abi } from "viem";
import { twapBurnerAbi } from "../../../abis/TwapBurner.ts";
import type { ReadClient } from "../../../lib/chain/client.ts";
import type { Contracts } from "../../../lib/deployments.ts";

/** USDC with 6 decimals that a contract holds and has not spent, by the index's name of the contract. */
export type WaitingUsdc = { readonly twap_burner: bigint; readonly buyback_engine: bigint };

/** Reads the balances at a block. Rejects when the node does not answer. */
export async function readWaitingUsdc(
  chain: ReadClient,
  { twapBurner, buybackEngine, usdc }: Contracts,
  blockNumber: bigint,
): Promise<WaitingUsdc> {
  const [twap_burner, buyback_engine] = await Promise.all([
    chain.readContract({ address: twapBurner, abi: twapBurnerAbi, functionName: "pendingUSDC", blockNumber }),
    chain.readContract({
      ...{ address: usdc, abi: erc20Abi, functionName: "balanceOf" },
      args: [buybackEngine],
      blockNumber,
    }),
  ]);
  return { twap_burner, buyback_engine };
}

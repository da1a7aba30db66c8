import { type Address, erc20Abi } from "viem";
import type { ReadClient } from "../../../lib/chain/client.ts";
import type { Contracts } from "../../../lib/deployments.ts";

/**
 * What a buyer can pay the cover router: its USDC and what it lets the router take, 6 decimals, after a block. Rejects
 * when the node does not answer or no longer has that block's state.
 */
export async function readFunds(
  chain: ReadClient,
  { usdc, coverRouter }: Contracts,
  buyer: Address,
  blockNumber: bigint,
): Promise<{ balance: bigint; allowance: bigint }> {
  const token = { address: usdc, abi: erc20Abi, blockNumber } as const;
  const ask = () =>
    Promise.all([
      chain.readContract({ ...token, functionName: "balanceOf", args: [buyer] }),
      chain.readContract({ ...token, functionName: "allowance", args: [buyer, coverRouter] }),
    ]);
  // Of several nodes behind one URL, one that is behind does not have the block, and the next one may.
  const [balance, allowance] = await ask().catch(ask).catch(ask).catch(ask);
  return { balance, allowance };
}

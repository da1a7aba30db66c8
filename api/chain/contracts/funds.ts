import { type Address, erc20Abi } from "viem";
import type { ReadClient } from "../../../lib/chain/client.ts";
import type { Contracts } from "../../../lib/deployments.ts";

/**
 * A buyer's USDC balance and its allowance after a block, 6 decimals; by default the allowance to the cover router. Rejects when the
 * node does not answer or no longer has the block's state.
 */
export async function readFunds(
  chain: ReadClient,
  { usdc, coverRouter }: Contracts,
  buyer: Address,
  blockNumber: bigint,
  spender: Address = coverRouter,
): Promise<{ balance: bigint; allowance: bigint }> {
  const token = { address: usdc, abi: erc20Abi, blockNumber } as const;
  const read = () =>
    Promise.all([
      chain.readContract({ ...token, functionName: "balanceOf", args: [buyer] }),
      chain.readContract({ ...token, functionName: "allowance", args: [buyer, spender] }),
    ]);
  // Behind one URL there may be several nodes: one may lag, and the next one has the block.
  const [balance, allowance] = await read().catch(read).catch(read).catch(read);
  return { balance, allowance };
}

/** Reads of balances, quotes and the vault's numbers. */
import { type Address, erc20Abi, type Hex } from "viem";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { claimBondAbi } from "../../abis/ClaimBond.ts";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import type { Protocol } from "../../scripts/local/protocol/actions/index.ts";

type VaultNumber =
  | "obligations"
  | "reserve"
  | "throttleLeft"
  | "availableCapacityUSD"
  | "currentEpoch"
  | "queueHead"
  | "queueLength"
  | "queuedUsd"
  | "totalReserved";

export function readsOf(protocol: () => Protocol) {
  const contracts = () => protocol().deployment.contracts;
  const balance = (address: Address, account: Address) =>
    protocol().client.readContract({ abi: erc20Abi, address, functionName: "balanceOf", args: [account] });
  return {
    usdcOf: (account: Address) => balance(contracts().usdc, account),
    tokensOf: (account: Address) => balance(contracts().protocolToken, account),
    bondsOf: (account: Address, epochId: bigint) =>
      protocol().client.readContract({
        abi: claimBondAbi,
        address: contracts().claimBond,
        functionName: "balanceOf",
        args: [account, epochId],
      }),
    vault: (functionName: VaultNumber) =>
      protocol().client.readContract({ abi: bondVaultAbi, address: contracts().bondVault, functionName }),
    /** Premium and payout. */
    quote: (productId: Hex, coverage: bigint) =>
      protocol().client.readContract({
        abi: coverRouterAbi,
        address: contracts().coverRouter,
        functionName: "quotePremium",
        args: [productId, coverage],
      }),
  };
}

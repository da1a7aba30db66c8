/** Reads of balances, quotes and the vault's numbers. */
import { type Address, erc20Abi, type Hex } from "viem";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { claimBondAbi } from "../../abis/ClaimBond.ts";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { policyManagerAbi } from "../../abis/PolicyManager.ts";
import type { Protocol } from "../../scripts/local/protocol/actions/index.ts";

type VaultNumber =
  | "totalCommittedUSD"
  | "totalReservedUSD"
  | "totalQueuedUSD"
  | "availableCapacityUSD"
  | "maxRedeemThisEpoch"
  | "currentEpoch";
type WeekNumber = "redeemedInEpoch" | "queueLength" | "queueProcessedIndex";

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
    /** A number of the vault for a week. */
    ofWeek: (functionName: WeekNumber, week: bigint) =>
      protocol().client.readContract({
        abi: bondVaultAbi,
        address: contracts().bondVault,
        functionName,
        args: [week],
      }),
    /** What a holder has redeemed or queued in a week, 18 decimals. */
    redeemedBy: (week: bigint, holder: Address) =>
      protocol().client.readContract({
        abi: bondVaultAbi,
        address: contracts().bondVault,
        functionName: "redeemedByUserInEpoch",
        args: [week, holder],
      }),
    /** The vault's reservation for a policy, 18 decimals. */
    reservedFor: (productId: Hex, policyId: bigint) =>
      protocol().client.readContract({
        abi: policyManagerAbi,
        address: contracts().policyManager,
        functionName: "policyReservedUSD",
        args: [productId, policyId],
      }),
    policy: (productId: Hex, policyId: bigint) =>
      protocol().client.readContract({
        abi: policyManagerAbi,
        address: contracts().policyManager,
        functionName: "getPolicy",
        args: [productId, policyId],
      }),
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

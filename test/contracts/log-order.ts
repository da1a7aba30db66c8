/** The names of a receipt's logs, in order. */
import { type Abi, decodeEventLog, type TransactionReceipt } from "viem";
import { bondMarketplaceAbi } from "../../abis/BondMarketplace.ts";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { buybackEngineAbi } from "../../abis/BuybackEngine.ts";
import { claimBondAbi } from "../../abis/ClaimBond.ts";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { flashShieldAbi } from "../../abis/FlashShield.ts";
import { mockUsdcAbi } from "../../abis/MockUSDC.ts";
import { policyManagerAbi } from "../../abis/PolicyManager.ts";
import { twapBurnerAbi } from "../../abis/TwapBurner.ts";

const events: Abi = [
  ...mockUsdcAbi,
  ...coverRouterAbi,
  ...policyManagerAbi,
  ...flashShieldAbi,
  ...bondVaultAbi,
  ...claimBondAbi,
  ...bondMarketplaceAbi,
  ...twapBurnerAbi,
  ...buybackEngineAbi,
].filter((item) => item.type === "event");

export const namesOf = ({ logs }: TransactionReceipt) =>
  logs.map(({ topics, data }) => decodeEventLog({ abi: events, topics, data }).eventName);

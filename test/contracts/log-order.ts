/** The names of a receipt's logs, in order; those of slim shield, adapter and keeper with their contract. */
import { type Abi, decodeEventLog, type TransactionReceipt, toEventSelector } from "viem";
import { bondMarketplaceAbi } from "../../abis/BondMarketplace.ts";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { buybackEngineAbi } from "../../abis/BuybackEngine.ts";
import { claimBondAbi } from "../../abis/ClaimBond.ts";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { flashShieldAbi } from "../../abis/FlashShield.ts";
import { mockUsdcAbi } from "../../abis/MockUSDC.ts";
import { policyManagerAbi } from "../../abis/PolicyManager.ts";
import { shieldAdapterAbi } from "../../abis/ShieldAdapter.ts";
import { shieldKeeperAbi } from "../../abis/ShieldKeeper.ts";
import { twapBurnerAbi } from "../../abis/TwapBurner.ts";

const prefixed = (contract: string, abi: Abi) =>
  abi.flatMap((item) => (item.type === "event" ? [{ ...item, contract }] : []));
const ofContracts = [
  ...prefixed("Shield", flashShieldAbi),
  ...prefixed("Adapter", shieldAdapterAbi),
  ...prefixed("Keeper", shieldKeeperAbi),
];

const events: Abi = [
  ...mockUsdcAbi,
  ...coverRouterAbi,
  ...policyManagerAbi,
  ...bondVaultAbi,
  ...claimBondAbi,
  ...bondMarketplaceAbi,
  ...twapBurnerAbi,
  ...buybackEngineAbi,
].filter((item) => item.type === "event");

export const namesOf = ({ logs }: TransactionReceipt) =>
  logs.map(({ topics, data }) => {
    const own = ofContracts.find((event) => toEventSelector(event) === topics[0]);
    return own ? `${own.contract}.${own.name}` : decodeEventLog({ abi: events, topics, data }).eventName;
  });

/** What must hold on the network before the first transaction. Each check answers with its faults. */
import { type Address, formatEther, type LocalAccount, parseAbi } from "viem";
import { isAnvilAddress } from "../../lib/chain/anvil-addresses.ts";
import { isAnvil, type ReadClient } from "../../lib/chain/client.ts";
import { errorText } from "../../lib/log.ts";
import type { ExternalContracts } from "../local/protocol/deployment-plan.ts";
import type { PlannedTransaction } from "../local/protocol/planned-transactions.ts";
import { feesOf } from "./send.ts";

const contractAbi = parseAbi([
  "function decimals() view returns (uint8)",
  "function getLuminaPrice() view returns (uint256)",
  "function latestRoundData() view returns (uint80, int256, uint256, uint256, uint80)",
]);

/** Decimals that the protocol's arithmetic assumes; those of the sequencer feed do not matter. */
const decimalsOf: Readonly<Record<string, number>> = {
  usdc: 6,
  btcUsdFeed: 8,
  ethUsdFeed: 8,
};

/**
 * A sixth above the average gas of the plan's transactions (1.26 million and 83,000), because a rollup's L1 fee comes on top. A test
 * compares the sum with a deployment.
 */
const CREATION_GAS = 1_470_000n;
const CALL_GAS = 150_000n;

/** The only test network on which the contracts sell policies. */
const BASE_SEPOLIA = {
  chainId: 84532,
  name: "Base Sepolia",
  explorerUrl: "https://sepolia.basescan.org",
} as const;

/** The name and the explorer of the test network. @throws for any other chain: there the contracts revert */
export function testNetwork(chainId: number) {
  if (chainId === BASE_SEPOLIA.chainId) return BASE_SEPOLIA;
  throw new Error(
    `chain ${chainId}: this command deploys to Base Sepolia (${BASE_SEPOLIA.chainId}) only; elsewhere the contracts sell nothing`,
  );
}

async function externalFault(client: ReadClient, key: string, address: Address): Promise<string | undefined> {
  const what = `${key} ${address}`;
  const code = await client.getCode({ address });
  if (code === undefined || code === "0x") return `${what} has no code`;
  try {
    const decimals = decimalsOf[key];
    if (decimals !== undefined) {
      const actual = await client.readContract({ address, abi: contractAbi, functionName: "decimals" });
      if (actual !== decimals) return `${what} has ${actual} decimals, and must have ${decimals}`;
    }
    if (key === "usdc") return undefined;
    if (key === "priceOracle") {
      const price = await client.readContract({ address, abi: contractAbi, functionName: "getLuminaPrice" });
      return price === 0n ? `${what} has no price` : undefined;
    }
    const [, answer] = await client.readContract({
      address,
      abi: contractAbi,
      functionName: "latestRoundData",
    });
    return key !== "sequencerFeed" && answer <= 0n ? `${what} has no price` : undefined;
  } catch (error) {
    return `${what} does not answer as such a contract: ${errorText(error)}`;
  }
}

/** The faults of contracts that the network is said to have. */
export async function externalFaults(client: ReadClient, external: ExternalContracts): Promise<string[]> {
  const faults = await Promise.all(
    Object.entries(external).map(([key, address]) => externalFault(client, key, address)),
  );
  return faults.filter((fault) => fault !== undefined);
}

/** More gas than these transactions use together. */
export const expectedGas = (transactions: readonly PlannedTransaction[]): bigint =>
  transactions.reduce((sum, { to }) => sum + (to === null ? CREATION_GAS : CALL_GAS), 0n);

/** The faults of the deployer's wallet for the transactions that are left. */
export async function walletFaults(
  client: ReadClient,
  { address }: LocalAccount,
  transactions: readonly PlannedTransaction[],
): Promise<string[]> {
  const [balance, fees, local] = await Promise.all([
    client.getBalance({ address }),
    feesOf(client),
    isAnvil(client).catch(() => false),
  ]);
  const faults: string[] = [];
  if (!local && isAnvilAddress(address))
    faults.push(
      `DEPLOYER_PRIVATE_KEY is one of anvil's, which everybody knows: whoever uses it owns the contracts`,
    );
  const needed = expectedGas(transactions) * fees.maxFeePerGas;
  if (balance < needed)
    faults.push(
      `${address} has ${formatEther(balance)} ETH, and the deployment may cost up to ${formatEther(needed)} ETH`,
    );
  return faults;
}

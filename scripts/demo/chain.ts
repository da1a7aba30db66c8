/** What the demo does on the main chain, and what it shows of it. */
import { erc20Abi, formatUnits, type Hex } from "viem";
import { claimBondAbi } from "../../abis/ClaimBond.ts";
import { mockUsdcAbi } from "../../abis/MockUSDC.ts";
import type { StackContracts, Wallet } from "../dev/running-stack.ts";

/** Waits until a transaction is mined, and prints it. @throws when it reverted */
export async function mined(wallet: Wallet, what: string, hash: Hex): Promise<void> {
  const { status, blockNumber } = await wallet.waitForTransactionReceipt({ hash });
  if (status !== "success") throw new Error(`${what} reverted: ${hash}`);
  console.log(`\n⛓ block ${blockNumber}, ${hash}: ${what}`);
}

/** Gives the wallet mock USDC (6 decimals), as anybody may on a local chain. */
export async function mintUsdc(wallet: Wallet, { usdc }: StackContracts, amount: bigint): Promise<void> {
  const hash = await wallet.writeContract({
    ...{ chain: null, address: usdc, abi: mockUsdcAbi, functionName: "mint" },
    args: [wallet.account.address, amount],
  });
  await mined(wallet, `${wallet.account.address} mints ${amount} base units of mock USDC`, hash);
}

/** The same if it has less than that: on a fork it has enough from the start. */
export async function needUsdc(wallet: Wallet, contracts: StackContracts, amount: bigint): Promise<void> {
  const args = [wallet.account.address] as const;
  const read = { address: contracts.usdc, abi: erc20Abi, functionName: "balanceOf", args } as const;
  if ((await wallet.readContract(read)) < amount) await mintUsdc(wallet, contracts, amount);
}

/** A wallet's USDC (6 decimals) and bonds of an epoch (whole dollars) after a block. */
async function balancesAt(
  wallet: Wallet,
  { usdc, claimBond }: StackContracts,
  epochId: bigint,
  blockNumber: bigint,
) {
  const owner = wallet.account.address;
  const [dollars, bonds] = await Promise.all([
    wallet.readContract({
      ...{ address: usdc, abi: erc20Abi, blockNumber, functionName: "balanceOf" },
      args: [owner],
    }),
    wallet.readContract({
      ...{ address: claimBond, abi: claimBondAbi, blockNumber, functionName: "balanceOf" },
      args: [owner, epochId],
    }),
  ]);
  return { usdc: formatUnits(dollars, 6), bonds };
}

/** Prints how a wallet's USDC and its bonds of an epoch have changed since a block. */
export async function printChange(
  wallet: Wallet,
  contracts: StackContracts,
  epochId: bigint,
  since: bigint,
): Promise<void> {
  const [before, now] = await Promise.all([
    balancesAt(wallet, contracts, epochId, since),
    balancesAt(wallet, contracts, epochId, await wallet.getBlockNumber()),
  ]);
  console.log(
    `\n⛓ ${wallet.account.address} has ${now.bonds} bonds of ${epochId} (${before.bonds} before) and ${now.usdc} USDC (${before.usdc} before)`,
  );
}

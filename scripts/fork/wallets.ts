/** The wallets of a fork: without the code that strangers have put on anvil's well-known accounts, with ether and USDC. */
import { type Address, encodeFunctionData, erc20Abi, type Hex, numberToHex } from "viem";
import { z } from "zod";
import { anvilAccount } from "../../lib/chain/client.ts";
import { ifAnswered } from "../../lib/chain/reverts.ts";
import { type ForkClient, GAS_MONEY } from "./client.ts";

/** All that this repository's stack, commands and documents use. */
const WALLETS = Array.from({ length: 16 }, (_, index) => anvilAccount(index).address);
/** Those that send nothing for the stack: for buyers. */
const buyers = WALLETS.slice(2, 10);
/** A million, with 6 decimals. */
const USDC_OF_EACH = 1_000_000_000_000n;

const accessListShape = z.object({
  accessList: z.array(
    z.object({
      address: z.templateLiteral(["0x", z.string()]),
      storageKeys: z.array(z.templateLiteral(["0x", z.string()])),
    }),
  ),
});

/** The storage that a token reads for a wallet's balance. */
async function storageReadFor(client: ForkClient, token: Address, wallet: Address) {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: "balanceOf", args: [wallet] });
  const answer: unknown = await client.transport.request({
    method: "eth_createAccessList",
    params: [{ to: token, data }, "latest"],
  });
  return accessListShape
    .parse(answer)
    .accessList.flatMap(({ address, storageKeys }) => storageKeys.map((slot) => ({ address, slot })));
}

/**
 * Raises a wallet's balance of a token to an amount by writing to its storage: to that slot, of those that the token reads for it, which then is the
 * balance. Such a slot may lie in another contract than the token's, and have other bits beside the balance, such as Circle's mark
 * of a blocked account.
 * @throws when no slot is the balance
 */
export async function raiseBalance(
  client: ForkClient,
  token: Address,
  wallet: Address,
  amount: bigint,
): Promise<void> {
  const balance = { address: token, abi: erc20Abi, functionName: "balanceOf", args: [wallet] } as const;
  if ((await client.readContract(balance)) >= amount) return;
  const value: Hex = numberToHex(amount, { size: 32 });
  for (const { address, slot } of await storageReadFor(client, token, wallet)) {
    const before = await client.getStorageAt({ address, slot });
    await client.setStorageAt({ address, index: slot, value });
    if ((await ifAnswered(client.readContract(balance))) === amount) return;
    await client.setStorageAt({ address, index: slot, value: before ?? numberToHex(0, { size: 32 }) });
  }
  throw new Error(`the storage of ${token} has no slot that is the balance of ${wallet}`);
}

/** Gives the buyers' wallets USDC. */
export async function fundBuyers(client: ForkClient, usdc: Address): Promise<void> {
  for (const wallet of buyers) await raiseBalance(client, usdc, wallet, USDC_OF_EACH);
}

/** Clears the code of all wallets, and gives them ether, the buyers USDC. */
export async function prepareWallets(client: ForkClient, usdc: Address): Promise<void> {
  await Promise.all(
    WALLETS.map(async (address) => {
      await client.setCode({ address, bytecode: "0x" });
      await client.setBalance({ address, value: GAS_MONEY });
    }),
  );
  await fundBuyers(client, usdc);
}

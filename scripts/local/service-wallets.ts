/** The service's wallets on local chains, all from anvil's mnemonic. */
import { createTestClient, parseEther } from "viem";
import { anvilAccount } from "../../lib/chain/client.ts";
import { toNode } from "./to-node.ts";

/**
 * The writer sends from the relayer on both chains, from the keeper's wallet on the main chain, and from those of sandbox and
 * faucet on the testnet.
 */
export const serviceWallets = {
  /** On the allowlist of every local router. */
  relayer: anvilAccount(1),
  /** Anvil's accounts with ether have other roles, so its ether comes from {@link fundKeeper}. */
  keeper: anvilAccount(14),
  /** Starts empty, so that the writer has to fund it. */
  sandbox: anvilAccount(10),
  /** One of anvil's first ten accounts, with 10,000 ETH. Nothing else sends from it on the testnet. */
  faucet: anvilAccount(7),
} as const;

/** Its key signs prices, and no transaction. */
export const oracleSigner = anvilAccount(13);

/** Far more than a local chain's gas costs. */
const KEEPER_ETHER = parseEther("100");

/** Gives the keeper's wallet ether on a local chain. Sends no transaction, so no block has it before the next one. */
export async function fundKeeper(url: string): Promise<void> {
  const client = createTestClient({ mode: "anvil", transport: toNode(url) });
  await client.setBalance({ address: serviceWallets.keeper.address, value: KEEPER_ETHER });
}

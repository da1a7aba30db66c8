/** The service's wallets on local chains, all from anvil's mnemonic. */
import { anvilAccount } from "../../lib/chain/client.ts";

/** The writer sends from the relayer on both chains, and from the sandbox's and faucet's wallets on the testnet. */
export const serviceWallets = {
  /** On the allowlist of every local router. */
  relayer: anvilAccount(1),
  /** Starts empty, so that the writer has to fund it. */
  sandbox: anvilAccount(10),
  /** One of anvil's first ten accounts, with 10,000 ETH. Nothing else sends from it on the testnet. */
  faucet: anvilAccount(7),
} as const;

/** Its key signs prices, and no transaction. */
export const oracleSigner = anvilAccount(13);

/** The service's own wallets on local chains, all of anvil's mnemonic. */
import { anvilAccount } from "../../lib/chain/client.ts";

/** Which of anvil's accounts the writer sends from, on the main chain and, with the other two, on the testnet. */
export const serviceWallets = {
  /** On the allowlist of every local router. */
  relayer: anvilAccount(1),
  /** Begins with nothing: it has to be kept in funds. */
  sandbox: anvilAccount(10),
  /** Owns the 10,000 ETH of anvil's first ten accounts; on the testnet nobody else sends from it. */
  faucet: anvilAccount(7),
} as const;

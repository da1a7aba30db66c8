import type { Hex } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import type { WriterConfig } from "../../lib/config.ts";
import { lower } from "../../lib/ledger/lower.ts";
import type { WalletRole } from "../../lib/ledger/tables.ts";
import type { WalletLabels } from "./gauges.ts";

/** The wallets whose keys a writer has, as its figures name them. */

const walletOf = (key: Hex) => lower(privateKeyToAddress(key));

/** Those of the main chain, all relayers'. */
export const mainWallets = (config: WriterConfig): WalletLabels[] =>
  config.RELAYER_PRIVATE_KEYS.map((key) => ({ wallet: walletOf(key) }));

/** Those of the testnet, each with its role. */
export function testnetWallets(config: WriterConfig): WalletLabels[] {
  const keys: Readonly<Record<WalletRole, readonly (Hex | undefined)[]>> = {
    relayer: config.TESTNET_RELAYER_PRIVATE_KEYS ?? [],
    sandbox: [config.SANDBOX_PRIVATE_KEY],
    faucet: [config.FAUCET_PRIVATE_KEY],
  };
  const roles: readonly WalletRole[] = ["relayer", "sandbox", "faucet"];
  return roles.flatMap((role) =>
    keys[role].flatMap((key) => (key === undefined ? [] : [{ wallet: walletOf(key), role }])),
  );
}

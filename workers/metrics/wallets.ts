import type { Hex } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import type { WriterConfig } from "../../lib/config.ts";
import { lower } from "../../lib/lower.ts";
import { testnetKeys } from "../keys.ts";
import type { WalletLabels } from "./gauges.ts";

/** The wallets whose keys a writer has, as its figures name them. */

const walletOf = (key: Hex) => lower(privateKeyToAddress(key));

/** Those of the main chain, all relayers'. */
export const mainWallets = (config: WriterConfig): WalletLabels[] =>
  config.RELAYER_PRIVATE_KEYS.map((key) => ({ wallet: walletOf(key) }));

/** Those of the testnet, each with its role. */
export const testnetWallets = (config: WriterConfig): WalletLabels[] =>
  testnetKeys(config).flatMap(({ role, privateKeys }) =>
    privateKeys.map((key) => ({ wallet: walletOf(key), role })),
  );

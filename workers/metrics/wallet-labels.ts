import type { Hex } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import type { WriterConfig } from "../../lib/config.ts";
import { lower } from "../../lib/lower.ts";
import { testnetKeys } from "../common/private-keys.ts";
import type { WalletLabels } from "./relay-gauges.ts";

/** The metric labels of a writer's wallets. */

const walletOf = (key: Hex) => lower(privateKeyToAddress(key));

/** The wallets of the main chain, which are all relayers. */
export const mainWallets = (config: WriterConfig): WalletLabels[] =>
  config.RELAYER_PRIVATE_KEYS.map((key) => ({ wallet: walletOf(key) }));

/** The wallets of the testnet, each with its role. */
export const testnetWallets = (config: WriterConfig): WalletLabels[] =>
  testnetKeys(config).flatMap(({ role, privateKeys }) =>
    privateKeys.map((key) => ({ wallet: walletOf(key), role })),
  );

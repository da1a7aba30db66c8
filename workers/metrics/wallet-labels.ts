import type { Hex } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import type { WriterConfig } from "../../lib/config.ts";
import { lower } from "../../lib/lower.ts";
import { mainKeys, type NamedKeys, testnetKeys } from "../common/private-keys.ts";
import type { WalletLabels } from "./relay-gauges.ts";

/** The metric labels of a writer's wallets. */

const walletOf = (key: Hex) => lower(privateKeyToAddress(key));

const labelsOf = (keys: readonly NamedKeys[]): WalletLabels[] =>
  keys.flatMap(({ role, privateKeys }) => privateKeys.map((key) => ({ wallet: walletOf(key), role })));

/** The wallets of the main chain. A relayer there has no label of its role. */
export const mainWallets = (config: WriterConfig): WalletLabels[] =>
  labelsOf(mainKeys(config)).map(({ wallet, role }) => (role === "relayer" ? { wallet } : { wallet, role }));

/** The wallets of the testnet, each with its role. */
export const testnetWallets = (config: WriterConfig): WalletLabels[] => labelsOf(testnetKeys(config));

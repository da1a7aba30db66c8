import type { WriterConfig } from "../../lib/config.ts";
import { lower } from "../../lib/lower.ts";
import { mainKeys, type NamedKeys, testnetKeys } from "../common/wallet-keys.ts";
import { addressOf } from "../relayer/signer.ts";
import type { WalletLabels } from "./relay-gauges.ts";

/** The metric labels of a writer's wallets. */

const labelsOf = (named: readonly NamedKeys[]): WalletLabels[] =>
  named.flatMap(({ role, keys }) => keys.map((key) => ({ wallet: lower(addressOf(key)), role })));

/** The wallets of the main chain. A relayer there has no label of its role. */
export const mainWallets = (config: WriterConfig): WalletLabels[] =>
  labelsOf(mainKeys(config)).map(({ wallet, role }) => (role === "relayer" ? { wallet } : { wallet, role }));

/** The wallets of the testnet, each with its role. */
export const testnetWallets = (config: WriterConfig): WalletLabels[] => labelsOf(testnetKeys(config));

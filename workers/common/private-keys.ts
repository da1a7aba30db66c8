import type { Hex } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { isAnvilAddress } from "../../lib/chain/client.ts";
import type { WriterConfig } from "../../lib/config.ts";
import { ConfigError } from "../../lib/config-error.ts";
import type { WalletRole } from "../../lib/ledger/relayers.ts";
import { secretsKeyFault } from "../../lib/off-local.ts";
import type { WalletKey } from "../relayer/wallets.ts";

/** Private keys with the environment variable that holds them. */
export type VariableKeys = { variable: string; privateKeys: readonly Hex[] };
/** Keys of wallets, with their role. */
export type NamedKeys = VariableKeys & { role: WalletRole };

const one = (key: Hex | undefined) => (key === undefined ? [] : [key]);

export const mainKeys = ({ RELAYER_PRIVATE_KEYS, KEEPER_PRIVATE_KEY }: WriterConfig): NamedKeys[] => [
  { variable: "RELAYER_PRIVATE_KEYS", role: "relayer", privateKeys: RELAYER_PRIVATE_KEYS },
  { variable: "KEEPER_PRIVATE_KEY", role: "keeper", privateKeys: one(KEEPER_PRIVATE_KEY) },
];

/** The key that signs prices: it has no wallet, and pays for nothing. */
export const oracleKeys = ({ ORACLE_PRIVATE_KEY }: WriterConfig): VariableKeys[] => [
  { variable: "ORACLE_PRIVATE_KEY", privateKeys: one(ORACLE_PRIVATE_KEY) },
];

export function testnetKeys(config: WriterConfig): NamedKeys[] {
  const { TESTNET_RELAYER_PRIVATE_KEYS: relayers = [], SANDBOX_PRIVATE_KEY, FAUCET_PRIVATE_KEY } = config;
  return [
    { variable: "TESTNET_RELAYER_PRIVATE_KEYS", role: "relayer", privateKeys: relayers },
    { variable: "SANDBOX_PRIVATE_KEY", role: "sandbox", privateKeys: one(SANDBOX_PRIVATE_KEY) },
    { variable: "FAUCET_PRIVATE_KEY", role: "faucet", privateKeys: one(FAUCET_PRIVATE_KEY) },
  ];
}

/** The keys one by one, each with its role. */
export const walletKeys = (keys: readonly NamedKeys[]): WalletKey[] =>
  keys.flatMap(({ role, privateKeys }) => privateKeys.map((privateKey) => ({ role, privateKey })));

/**
 * Refuses keys that do not fit the chain. Anvil's keys are public, so they are for local chains only. A local chain
 * accepts no other key, so that a real one is never used by mistake. Throws {@link ConfigError}, with addresses and
 * never keys.
 */
export function requireFittingKeys(keys: readonly VariableKeys[], local: boolean): void {
  const wallets = keys.flatMap(({ variable, privateKeys }) =>
    privateKeys.map((key) => ({ variable, address: privateKeyToAddress(key) })),
  );
  const wrong = wallets.filter(({ address }) => isAnvilAddress(address) !== local);
  if (wrong.length === 0) return;
  throw new ConfigError(
    wrong.map(({ variable, address }) =>
      local
        ? `${variable}: ${address} is not one of anvil's accounts, and a local chain accepts no other`
        : `${variable}: ${address} is one of anvil's accounts, and their keys are public; this chain is not local`,
    ),
  );
}

/** Refuses a public or trivial key for secrets on a chain that is not local. Throws {@link ConfigError}. */
export function requireOwnSecretsKey(secretsKey: string, local: boolean): void {
  const fault = local ? undefined : secretsKeyFault(secretsKey);
  if (fault !== undefined) throw new ConfigError([`SECRETS_KEY ${fault}`]);
}

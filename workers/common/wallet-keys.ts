import type { Hex } from "viem";
import { isAnvilAddress } from "../../lib/chain/anvil-addresses.ts";
import type { WriterConfig } from "../../lib/config.ts";
import { ConfigError } from "../../lib/config-error.ts";
import type { WalletRole } from "../../lib/ledger/relayers.ts";
import { secretsKeyFault } from "../../lib/off-local.ts";
import { addressOf, type Key } from "../relayer/signer.ts";
import type { WalletKey } from "../relayer/wallets.ts";

/** Keys with the environment variable that names them. */
export type VariableKeys = { variable: string; keys: readonly Key[] };
/** Keys of wallets, with their role. */
export type NamedKeys = VariableKeys & { role: WalletRole };

const mainVariables = [
  ["RELAYER_PRIVATE_KEYS", "RELAYER_PUBLIC_KEYS", "relayer"],
  ["KEEPER_PRIVATE_KEY", "KEEPER_PUBLIC_KEY", "keeper"],
] as const;

const testnetVariables = [
  ["TESTNET_RELAYER_PRIVATE_KEYS", "TESTNET_RELAYER_PUBLIC_KEYS", "relayer"],
  ["SANDBOX_PRIVATE_KEY", "SANDBOX_PUBLIC_KEY", "sandbox"],
  ["FAUCET_PRIVATE_KEY", "FAUCET_PUBLIC_KEY", "faucet"],
] as const;

const oracleVariables = ["ORACLE_PRIVATE_KEY", "ORACLE_PUBLIC_KEY"] as const;

type KeyVariables = typeof mainVariables | typeof testnetVariables;
type Variables = KeyVariables[number] | typeof oracleVariables;

const listOf = (value: Hex | readonly Hex[] | undefined): readonly Hex[] =>
  typeof value === "string" ? [value] : (value ?? []);

/** The keys of a role, by the variable that has them. */
function keysOf(config: WriterConfig, [own, signers]: Variables): VariableKeys[] {
  const { SIGNER_URL: signerUrl } = config;
  // The configuration has no public key without a signer.
  const withSigner =
    signerUrl === undefined ? [] : listOf(config[signers]).map((publicKey) => ({ publicKey, signerUrl }));
  return [
    { variable: own, keys: listOf(config[own]).map((privateKey) => ({ privateKey })) },
    { variable: signers, keys: withSigner },
  ];
}

const namedKeys = (config: WriterConfig, variables: KeyVariables): NamedKeys[] =>
  variables.flatMap((names) => keysOf(config, names).map((keys) => ({ ...keys, role: names[2] })));

export const mainKeys = (config: WriterConfig): NamedKeys[] => namedKeys(config, mainVariables);
export const testnetKeys = (config: WriterConfig): NamedKeys[] => namedKeys(config, testnetVariables);

/** Whether the writer is a keeper: its wallet has a key. */
export const hasKeeper = (config: WriterConfig): boolean =>
  (config.KEEPER_PRIVATE_KEY ?? config.KEEPER_PUBLIC_KEY) !== undefined;

/** Whether the writer signs prices, if the deployment has an oracle. */
export const hasOracle = (config: WriterConfig): boolean =>
  (config.ORACLE_PRIVATE_KEY ?? config.ORACLE_PUBLIC_KEY) !== undefined;

/** The key that signs prices: it has no wallet, and pays for nothing. At most one variable has it. */
export const oracleKeys = (config: WriterConfig): VariableKeys[] => keysOf(config, oracleVariables);

/** The keys one by one, each with its role. */
export const walletKeys = (named: readonly NamedKeys[]): WalletKey[] =>
  named.flatMap(({ role, keys }) => keys.map((key) => ({ role, key })));

/**
 * Refuses keys that do not fit the chain. Anvil's keys are public, so they are for local chains only. A local chain
 * accepts no other key, so that a real one is never used by mistake. Throws {@link ConfigError}, with addresses and
 * never keys.
 */
export function requireFittingKeys(named: readonly VariableKeys[], local: boolean): void {
  const wallets = named.flatMap(({ variable, keys }) =>
    keys.map((key) => ({ variable, address: addressOf(key) })),
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

/** The variables with the keys of the writer: private ones, or the public ones of keys that a signer has. */
import { baseUrl, privateKey, privateKeys, publicKey, publicKeys } from "./config-values.ts";
import type { Fault, Variables } from "./testnet-variables.ts";

export const keyVariables = {
  SIGNER_URL: baseUrl.optional(),
  RELAYER_PRIVATE_KEYS: privateKeys.optional(),
  RELAYER_PUBLIC_KEYS: publicKeys.optional(),
  KEEPER_PRIVATE_KEY: privateKey.optional(),
  KEEPER_PUBLIC_KEY: publicKey.optional(),
  TESTNET_RELAYER_PRIVATE_KEYS: privateKeys.optional(),
  TESTNET_RELAYER_PUBLIC_KEYS: publicKeys.optional(),
  SANDBOX_PRIVATE_KEY: privateKey.optional(),
  SANDBOX_PUBLIC_KEY: publicKey.optional(),
  FAUCET_PRIVATE_KEY: privateKey.optional(),
  FAUCET_PUBLIC_KEY: publicKey.optional(),
  ORACLE_PRIVATE_KEY: privateKey.optional(),
  ORACLE_PUBLIC_KEY: publicKey.optional(),
};

const publicVariables = [
  "RELAYER_PUBLIC_KEYS",
  "KEEPER_PUBLIC_KEY",
  "TESTNET_RELAYER_PUBLIC_KEYS",
  "SANDBOX_PUBLIC_KEY",
  "FAUCET_PUBLIC_KEY",
  "ORACLE_PUBLIC_KEY",
] as const;

const relayerVariables = ["RELAYER_PRIVATE_KEYS", "RELAYER_PUBLIC_KEYS"] as const;

/** Roles with one key: it is in the environment or with the signer. */
const oneKey = ["KEEPER", "SANDBOX", "FAUCET", "ORACLE"] as const;

/** A missing signer, a missing relayer, and roles with two keys where one is possible; each variable alone is already valid. */
export function invalidKeys(variables: Variables): Fault[] {
  const faults: Fault[] = [];
  const given = publicVariables.filter((name) => variables[name] !== undefined);
  if (given.length > 0 && variables.SIGNER_URL === undefined)
    faults.push(["SIGNER_URL", `is required with ${given.join(" and ")}`]);
  const relayers = relayerVariables.filter((name) => variables[name] !== undefined);
  if (variables.PURCHASES === "prepared")
    faults.push(...relayers.map((name): Fault => [name, "must not be set with PURCHASES=prepared"]));
  else if (relayers.length === 0) faults.push(["RELAYER_PRIVATE_KEYS", "is required"]);
  for (const role of oneKey) {
    if (variables[`${role}_PRIVATE_KEY`] === undefined || variables[`${role}_PUBLIC_KEY`] === undefined)
      continue;
    faults.push([`${role}_PUBLIC_KEY`, `must not be set together with ${role}_PRIVATE_KEY: it is one key`]);
  }
  return faults;
}

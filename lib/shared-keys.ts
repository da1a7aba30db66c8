import type { Address } from "viem";
import { keyAddress } from "./key-address.ts";
import type { Fault, Variables } from "./testnet-variables.ts";

/** The keys of the writer's wallets, one or several to a variable: private ones, and public ones whose keys the signer has. */
const walletVariables = [
  "RELAYER_PRIVATE_KEYS",
  "RELAYER_PUBLIC_KEYS",
  "KEEPER_PRIVATE_KEY",
  "KEEPER_PUBLIC_KEY",
  "TESTNET_RELAYER_PRIVATE_KEYS",
  "TESTNET_RELAYER_PUBLIC_KEYS",
  "SANDBOX_PRIVATE_KEY",
  "SANDBOX_PUBLIC_KEY",
  "FAUCET_PRIVATE_KEY",
  "FAUCET_PUBLIC_KEY",
] as const;

/** Which keys may not be in which other variables, each for its reason. */
const apart: readonly (readonly [name: string, others: readonly string[]])[] = [
  // A key that signs prices on request never signs a transaction.
  ["ORACLE_PRIVATE_KEY", walletVariables],
  ["ORACLE_PUBLIC_KEY", walletVariables],
  // The keeper has a gas budget and a stop of its own, and its balance is nobody else's.
  ["KEEPER_PRIVATE_KEY", walletVariables],
  ["KEEPER_PUBLIC_KEY", walletVariables],
  // The writer would hold the wallet twice.
  ["RELAYER_PUBLIC_KEYS", ["RELAYER_PRIVATE_KEYS"]],
  ["TESTNET_RELAYER_PUBLIC_KEYS", ["TESTNET_RELAYER_PRIVATE_KEYS"]],
];

/** The wallets of a variable's keys; of a malformed key none. */
export const walletsOf = (variables: Variables, name: string): Address[] =>
  (variables[name] ?? "").split(",").flatMap((key) => keyAddress(key.trim()) ?? []);

/** Refuses keys that another wallet has too, and must not have. */
export function sharedKeys(variables: Variables): Fault[] {
  return apart.flatMap(([name, others]) => {
    const wallets = walletsOf(variables, name);
    const sharing = others.filter(
      (other) => other !== name && walletsOf(variables, other).some((wallet) => wallets.includes(wallet)),
    );
    return sharing.length === 0 ? [] : [[name, `is also a key of ${sharing.join(" and ")}`] as const];
  });
}

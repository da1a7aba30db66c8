import type { Fault, Variables } from "./testnet-variables.ts";

/** The keys of the writer's wallets, one or several to a variable. */
const walletVariables = [
  "RELAYER_PRIVATE_KEYS",
  "KEEPER_PRIVATE_KEY",
  "TESTNET_RELAYER_PRIVATE_KEYS",
  "SANDBOX_PRIVATE_KEY",
  "FAUCET_PRIVATE_KEY",
] as const;

/** Keys that must have one role only, each for its reason. */
const ownKeys = [
  // A key that signs prices on request never signs a transaction.
  "ORACLE_PRIVATE_KEY",
  // The keeper has a gas budget and a stop of its own, and its balance is nobody else's.
  "KEEPER_PRIVATE_KEY",
] as const;

const keysOf = (variables: Variables, name: string): string[] =>
  (variables[name] ?? "").split(",").map((key) => key.trim().toLowerCase());

/** Refuses an oracle's or a keeper's key that another wallet has too. */
export function sharedKeys(variables: Variables): Fault[] {
  return ownKeys.flatMap((name) => {
    const key = variables[name]?.toLowerCase();
    if (key === undefined) return [];
    const sharing = walletVariables.filter(
      (other) => other !== name && keysOf(variables, other).includes(key),
    );
    return sharing.length === 0 ? [] : [[name, `is also a key of ${sharing.join(" and ")}`] as const];
  });
}

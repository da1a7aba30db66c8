import type { Fault, Variables } from "./testnet-variables.ts";

/** The writer's other keys, one or several. */
const otherKeys = [
  "RELAYER_PRIVATE_KEYS",
  "TESTNET_RELAYER_PRIVATE_KEYS",
  "SANDBOX_PRIVATE_KEY",
  "FAUCET_PRIVATE_KEY",
] as const;

/** Refuses an oracle key that a wallet has too: a key that signs prices on request never signs a transaction. */
export function sharedOracleKey(variables: Variables): Fault[] {
  const oracle = variables.ORACLE_PRIVATE_KEY?.toLowerCase();
  if (oracle === undefined) return [];
  const keysOf = (name: string) => (variables[name] ?? "").split(",").map((key) => key.trim().toLowerCase());
  const sharing = otherKeys.filter((name) => keysOf(name).includes(oracle));
  if (sharing.length === 0) return [];
  return [["ORACLE_PRIVATE_KEY", `is also a key of ${sharing.join(" and ")}`]];
}

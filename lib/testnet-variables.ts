/** Checks the combination of the testnet's variables; each one alone is already valid. */
import { walletsOf } from "./shared-keys.ts";

/** The environment variables by name; undefined when unset. */
export type Variables = Readonly<Record<string, string | undefined>>;
export type Fault = readonly [name: string, fault: string];

/** Both or neither must be set. */
const chainVariables = ["TESTNET_RPC_URL", "TESTNET_DEPLOYMENT_FILE"] as const;
/** The relayers' and the two other wallets' keys, private and public. */
const relayers = ["TESTNET_RELAYER_PRIVATE_KEYS", "TESTNET_RELAYER_PUBLIC_KEYS"] as const;
const sandbox = ["SANDBOX_PRIVATE_KEY", "SANDBOX_PUBLIC_KEY"] as const;
const faucet = ["FAUCET_PRIVATE_KEY", "FAUCET_PUBLIC_KEY"] as const;

/** The unset `chainVariables`, where one of `names` is set. */
export function incompleteTestnet(variables: Variables, names: readonly string[] = chainVariables): Fault[] {
  if (names.every((name) => variables[name] === undefined)) return [];
  return chainVariables
    .filter((name) => variables[name] === undefined)
    .map((name) => [name, "is required where another variable of the testnet is set"]);
}

/** The faults of the writer's testnet variables: the chain's and the keys'. */
export function invalidWriterTestnet(variables: Variables): Fault[] {
  const isSet = (name: string) => variables[name] !== undefined;
  const faults = incompleteTestnet(variables, [...chainVariables, ...relayers, ...sandbox, ...faucet]);
  const sandboxVariable = sandbox.find(isSet);
  if (sandboxVariable !== undefined && !relayers.some(isSet)) {
    const fault = `is required with ${sandboxVariable}: a relayer sends the sandbox's purchases`;
    faults.push([relayers[0], fault]);
  }
  // A wallet with two roles would spend for one role what the other has promised.
  const taken = new Set(relayers.flatMap((name) => walletsOf(variables, name)));
  for (const name of [...sandbox, ...faucet]) {
    for (const wallet of walletsOf(variables, name)) {
      if (taken.has(wallet)) faults.push([name, "is also the key of another wallet of the testnet"]);
      taken.add(wallet);
    }
  }
  return faults;
}

/** Checks the combination of the testnet's variables; each one alone is already valid. */

/** The environment variables by name; undefined when unset. */
export type Variables = Readonly<Record<string, string | undefined>>;
export type Fault = readonly [name: string, fault: string];

/** Both or neither must be set. */
const chainVariables = ["TESTNET_RPC_URL", "TESTNET_DEPLOYMENT_FILE"] as const;
/** The writer's keys on the testnet. */
const keyVariables = ["TESTNET_RELAYER_PRIVATE_KEYS", "SANDBOX_PRIVATE_KEY", "FAUCET_PRIVATE_KEY"] as const;

/** The unset `chainVariables`, where one of `names` is set. */
export function incompleteTestnet(variables: Variables, names: readonly string[] = chainVariables): Fault[] {
  if (names.every((name) => variables[name] === undefined)) return [];
  return chainVariables
    .filter((name) => variables[name] === undefined)
    .map((name) => [name, "is required where another variable of the testnet is set"]);
}

/** The faults of the writer's testnet variables: the chain's and the keys'. */
export function invalidWriterTestnet(variables: Variables): Fault[] {
  const { TESTNET_RELAYER_PRIVATE_KEYS: relayers, SANDBOX_PRIVATE_KEY, FAUCET_PRIVATE_KEY } = variables;
  const faults = incompleteTestnet(variables, [...chainVariables, ...keyVariables]);
  if (SANDBOX_PRIVATE_KEY !== undefined && relayers === undefined) {
    const fault = "is required with SANDBOX_PRIVATE_KEY: a relayer sends the sandbox's purchases";
    faults.push(["TESTNET_RELAYER_PRIVATE_KEYS", fault]);
  }
  // A wallet with two roles would spend for one role what the other has promised.
  const taken = new Set(relayers?.split(",").map((key) => key.trim().toLowerCase()));
  for (const [name, key] of Object.entries({ SANDBOX_PRIVATE_KEY, FAUCET_PRIVATE_KEY })) {
    if (key === undefined) continue;
    if (taken.has(key.toLowerCase())) faults.push([name, "is also the key of another wallet of the testnet"]);
    taken.add(key.toLowerCase());
  }
  return faults;
}

/** What is wrong with the variables of the testnet together, where each of them is right by itself. */

/** The variables that are set, and a fault of one of them. */
export type Present = Readonly<Record<string, string | undefined>>;
export type Fault = readonly [name: string, fault: string];

/** Where the testnet is: both or neither. */
const place = ["TESTNET_RPC_URL", "TESTNET_DEPLOYMENT_FILE"] as const;
/** The writer's keys on it. */
const keys = ["TESTNET_RELAYER_PRIVATE_KEYS", "SANDBOX_PRIVATE_KEY", "FAUCET_PRIVATE_KEY"] as const;

/** What is missing of the place, given that something of the testnet is there: of the place alone, unless it is `named`. */
export function partialTestnet(present: Present, named: readonly string[] = place): Fault[] {
  if (named.every((name) => present[name] === undefined)) return [];
  return place
    .filter((name) => present[name] === undefined)
    .map((name) => [name, "is required where another variable of the testnet is set"]);
}

/** The same for the writer, with what is wrong with the keys. */
export function unfittingTestnet(present: Present): Fault[] {
  const { TESTNET_RELAYER_PRIVATE_KEYS: relayers, SANDBOX_PRIVATE_KEY, FAUCET_PRIVATE_KEY } = present;
  const faults = partialTestnet(present, [...place, ...keys]);
  if (SANDBOX_PRIVATE_KEY !== undefined && relayers === undefined) {
    const fault = "is required with SANDBOX_PRIVATE_KEY: the relayer sends what the sandbox buys";
    faults.push(["TESTNET_RELAYER_PRIVATE_KEYS", fault]);
  }
  // A wallet of two minds would spend for one what the other has promised.
  const taken = new Set(relayers?.split(",").map((key) => key.trim().toLowerCase()));
  for (const [name, key] of Object.entries({ SANDBOX_PRIVATE_KEY, FAUCET_PRIVATE_KEY })) {
    if (key === undefined) continue;
    if (taken.has(key.toLowerCase())) faults.push([name, "is the key of another of the testnet's wallets"]);
    taken.add(key.toLowerCase());
  }
  return faults;
}

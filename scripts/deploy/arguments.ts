/** The command line of `npm run deploy`, and the deployer's key from the environment. */
import { type Address, getAddress, isAddress, type LocalAccount } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { Environment } from "../../lib/config.ts";
import { privateKey, url } from "../../lib/config-values.ts";
import type { ExternalContracts } from "../local/protocol/deployment-plan.ts";
import { UsageError } from "../usage-error.ts";

export type DeploySettings = {
  readonly rpcUrl: string;
  /** The deployment file to write. */
  readonly out: string;
  /** Signs all transactions, and then owns every contract. */
  readonly deployer: LocalAccount;
  /** Put on the router's allowlist. */
  readonly relayers: readonly Address[];
  /** The signer of prices; without it nothing checks signed prices. */
  readonly oracle: Address | undefined;
  readonly external: ExternalContracts;
};

export type DeployCommand = { readonly do: "help" } | ({ readonly do: "deploy" } & DeploySettings);

export const usage = `DEPLOYER_PRIVATE_KEY=0x… npm run deploy -- --rpc URL --out FILE --relayer ADDRESS [options]
  --rpc URL                node of Base Sepolia (84532)
  --out FILE               deployment file to write (DEPLOYMENT_FILE of indexer, api and writer)
  --relayer ADDRESS        wallet on the router's allowlist; repeatable
  --oracle ADDRESS         signer of prices (the address of the oracle's key)
  --usdc ADDRESS           existing contracts of the network; a mock is deployed for each one that is not given
  --btc-feed ADDRESS
  --eth-feed ADDRESS
  --sequencer-feed ADDRESS
  --price-oracle ADDRESS   of the protocol's token
If it ends early, the same command goes on where it ended.`;

const required = ["rpc", "out", "relayer"] as const;
/** Options whose value is one address. */
const addressOptions = ["oracle", "usdc", "btc-feed", "eth-feed", "sequencer-feed", "price-oracle"] as const;
const names: readonly string[] = [...required, ...addressOptions];

const rpcUrl = url("http:", "https:");

/** Values by option, and the faults of the command line. `parseArgs` would name only the first fault. */
function readOptions(argv: readonly string[]): { values: Map<string, string[]>; faults: string[] } {
  const values = new Map<string, string[]>();
  const faults: string[] = [];
  const rest = [...argv];
  for (let argument = rest.shift(); argument !== undefined; argument = rest.shift()) {
    if (!argument.startsWith("--")) {
      faults.push(`${argument}: unexpected argument`);
      continue;
    }
    const [, name = "", inline] = /^--([^=]*)(?:=(.*))?$/s.exec(argument) ?? [];
    const value = inline ?? (rest[0]?.startsWith("--") ? undefined : rest.shift());
    if (!names.includes(name)) faults.push(`--${name}: unknown option`);
    else if (value === undefined || value === "") faults.push(`--${name} needs a value`);
    else values.set(name, [...(values.get(name) ?? []), value]);
  }
  for (const [name, given] of values)
    if (name !== "relayer" && given.length > 1) faults.push(`--${name} is given ${given.length} times`);
  for (const name of required)
    if (!values.has(name) && !faults.some((fault) => fault === `--${name} needs a value`))
      faults.push(`--${name} is required`);
  return { values, faults };
}

/** @returns undefined for a missing or bad key, which `faults` then has without repeating it */
function readDeployer({ DEPLOYER_PRIVATE_KEY }: Environment, faults: string[]): LocalAccount | undefined {
  if (DEPLOYER_PRIVATE_KEY === undefined || DEPLOYER_PRIVATE_KEY === "") {
    faults.push("DEPLOYER_PRIVATE_KEY is required in the environment");
    return undefined;
  }
  try {
    return privateKeyToAccount(privateKey.parse(DEPLOYER_PRIVATE_KEY));
  } catch {
    faults.push("DEPLOYER_PRIVATE_KEY must be a private key (0x and 64 hex digits)");
    return undefined;
  }
}

/**
 * Parses command line and environment.
 * @throws {UsageError} that names every fault
 */
export function parseDeployArguments(argv: readonly string[], env: Environment): DeployCommand {
  if (argv.includes("--help") || argv.includes("-h")) return { do: "help" };
  const { values, faults } = readOptions(argv);
  const deployer = readDeployer(env, faults);
  const first = (name: string) => values.get(name)?.[0];
  const address = (option: string, text: string | undefined): Address | undefined => {
    if (text === undefined) return undefined;
    if (isAddress(text)) return getAddress(text);
    faults.push(`--${option} ${text}: is not an address, or its checksum is wrong`);
    return undefined;
  };
  const addresses = Object.fromEntries(
    addressOptions.map((option) => [option, address(option, first(option))]),
  );
  const relayers = (values.get("relayer") ?? []).flatMap((text) => address("relayer", text) ?? []);
  if (new Set(relayers).size < relayers.length) faults.push("--relayer names a wallet twice");
  const [rpc, out] = [first("rpc"), first("out")];
  if (rpc !== undefined && !rpcUrl.safeParse(rpc).success) faults.push("--rpc must be an http or https URL");
  if (faults.length > 0 || deployer === undefined || rpc === undefined || out === undefined)
    throw new UsageError(`${faults.join("\n")}\n\n${usage}`);
  const given = {
    usdc: addresses.usdc,
    btcUsdFeed: addresses["btc-feed"],
    ethUsdFeed: addresses["eth-feed"],
    sequencerFeed: addresses["sequencer-feed"],
    priceOracle: addresses["price-oracle"],
  };
  const external: ExternalContracts = Object.fromEntries(
    Object.entries(given).filter(([, one]) => one !== undefined),
  );
  const { oracle } = addresses;
  return { do: "deploy", rpcUrl: rpc, out, deployer, relayers, oracle, external };
}

/** The command line of `npm run deploy`. */
import { expect, test } from "vitest";
import { anvilAccount } from "../../lib/chain/client.ts";
import { parseDeployArguments } from "../../scripts/deploy/arguments.ts";
import { privateKeyOf } from "../../scripts/local/anvil.ts";
import { UsageError } from "../../scripts/usage-error.ts";

const [first, second] = [anvilAccount(1).address, anvilAccount(2).address];
const env = { DEPLOYER_PRIVATE_KEY: privateKeyOf(anvilAccount(0)) };
const complete = ["--rpc", "http://127.0.0.1:8545", "--out", "deployment.json", "--relayer", first];
const parse = (...more: string[]) => parseDeployArguments([...complete, ...more], env);

/** The faults of a refused command line, without the usage. */
function faultsOf(argv: readonly string[], variables: Record<string, string> = env): readonly string[] {
  try {
    parseDeployArguments(argv, variables);
  } catch (error) {
    if (error instanceof UsageError) return error.message.split("\n\n")[0]?.split("\n") ?? [];
    throw error;
  }
  throw new Error("the command line was accepted");
}

test("the required options suffice, and every other one is optional", () => {
  expect(parse()).toMatchObject({
    do: "deploy",
    rpcUrl: "http://127.0.0.1:8545",
    out: "deployment.json",
    relayers: [first],
    oracle: undefined,
    external: {},
    deployer: { address: anvilAccount(0).address },
  });
  expect(parse("--relayer", second, `--oracle=${second}`, "--usdc", first.toLowerCase())).toMatchObject({
    relayers: [first, second],
    oracle: second,
    external: { usdc: first },
  });
  expect(parseDeployArguments(["--help"], {})).toEqual({ do: "help" });
});

test("every fault is named at once, and no key is repeated", () => {
  const secret = `0x${"ab".repeat(31)}`;
  const argv = [
    "--rpc",
    "ftp://x",
    "--relayer",
    "0x12",
    "--oracle",
    "--usdc",
    first,
    "--owner",
    first,
    "now",
  ];
  const faults = faultsOf(argv, { DEPLOYER_PRIVATE_KEY: secret });
  expect(faults).toEqual([
    "--oracle needs a value",
    "--owner: unknown option",
    "now: unexpected argument",
    "--out is required",
    "DEPLOYER_PRIVATE_KEY must be a private key (0x and 64 hex digits)",
    "--relayer 0x12: is not an address, or its checksum is wrong",
    "--rpc must be an http or https URL",
  ]);
  expect(faults.join()).not.toContain(secret);
  expect(faultsOf([], {})).toEqual([
    "--rpc is required",
    "--out is required",
    "--relayer is required",
    "DEPLOYER_PRIVATE_KEY is required in the environment",
  ]);
});

test.each([
  [["--relayer", first], "--relayer names a wallet twice"],
  [["--out", "other.json"], "--out is given 2 times"],
  [["--btc-feed", first.replace("C", "c")], /^--btc-feed 0x.*checksum is wrong$/],
])("%j is refused", (more, fault) => {
  expect(faultsOf([...complete, ...more])).toEqual([
    typeof fault === "string" ? fault : expect.stringMatching(fault),
  ]);
});

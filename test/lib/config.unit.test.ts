import { readFileSync } from "node:fs";
import { privateKeyToAccount } from "viem/accounts";
import { expect, test } from "vitest";
import { apiConfig, devConfig, indexerConfig, variableNames, writerConfig } from "../../lib/config.ts";
import { ConfigError } from "../../lib/config-error.ts";

const valid = {
  DATABASE_URL: "postgres://user@127.0.0.1/db",
  RPC_URL: "http://127.0.0.1:8545",
  DEPLOYMENT_FILE: "deployment.json",
  RELAYER_PRIVATE_KEYS: `0x${"1".repeat(64)}`,
};

/** Reads a configuration that must be refused. @returns its faults */
function faultsOf(read: () => unknown): readonly string[] {
  try {
    read();
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  throw new Error("the configuration was accepted");
}

test("names every invalid variable at once", () => {
  const faults = faultsOf(() =>
    apiConfig({
      ...{ ...valid, RPC_URL: "ftp://x", PORT: "80a", LOG_LEVEL: "loud" },
      ...{ DATABASE_URL: undefined, DATABASE_READ_URL: "127.0.0.1:5432" },
    }),
  );
  expect(faults.map((fault) => fault.split(" ")[0]).sort()).toEqual([
    "DATABASE_READ_URL",
    "DATABASE_URL",
    "LOG_LEVEL",
    "PORT",
    "RPC_URL",
  ]);
  expect(faults).toContain("DATABASE_URL is required");
});

test.each(["user:100%@127.0.0.1/db", "user:%ff@127.0.0.1/db", "user@a%ff/db", "user@127.0.0.1/%ff"])(
  "refuses the URL %s, which drivers cannot decode",
  (rest) => {
    expect(faultsOf(() => apiConfig({ ...valid, DATABASE_URL: `postgres://${rest}` }))).toEqual([
      "DATABASE_URL must be a URL with %25 for each % of its login, host and path, and escapes of UTF-8 only",
    ]);
  },
);

test("accepts a URL with escapes in its login", () => {
  expect(() =>
    apiConfig({ ...valid, DATABASE_URL: "postgres://user:100%25%C3%A9@127.0.0.1/db" }),
  ).not.toThrow();
});

test.each(["DATABASE_URL", "DATABASE_READ_URL"])("refuses several servers in %s", (name) => {
  const read = (url: string) => () => apiConfig({ ...valid, [name]: url });
  for (const url of ["postgres://user@a,b/db", "postgres://user@a:1,b:2/db", "postgres://user@a%2cb/db"]) {
    expect(faultsOf(read(url))).toContain(`${name} must name one host`);
  }
  expect(read("postgres://user:a,b@127.0.0.1/db?application_name=a,b")).not.toThrow();
});

test("an empty variable counts as unset, never as zero", () => {
  expect(indexerConfig({ ...valid, START_BLOCK: "" }).START_BLOCK).toBeUndefined();
  expect(indexerConfig({ ...valid, START_BLOCK: "0" }).START_BLOCK).toBe(0);
  expect(apiConfig({ ...valid, PORT: "" }).PORT).toBe(8080);
  expect(faultsOf(() => apiConfig({ ...valid, RPC_URL: "" }))).toEqual(["RPC_URL is required"]);
});

test.each(["0", "65536", "-1", "8080.5", "0x50", " 80", "1e3"])("refuses the port %j", (PORT) => {
  expect(faultsOf(() => apiConfig({ ...valid, PORT }))).toEqual([
    "PORT must be a whole number from 1 to 65535",
  ]);
});

test("a process does not require variables that only another process uses", () => {
  const { RELAYER_PRIVATE_KEYS: _, ...withoutKeys } = valid;
  expect(() => apiConfig(withoutKeys)).not.toThrow();
  expect(() => devConfig({})).not.toThrow();
  expect(faultsOf(() => writerConfig(withoutKeys))).toEqual(["RELAYER_PRIVATE_KEYS is required"]);
});

test("reads fees in gwei exactly to the wei", () => {
  expect(writerConfig({ ...valid, MAX_FEE_GWEI: "0.000000001" }).MAX_FEE_GWEI).toBe(1n);
  expect(writerConfig({ ...valid, MAX_FEE_GWEI: "1.5" }).MAX_FEE_GWEI).toBe(1_500_000_000n);
  expect(faultsOf(() => writerConfig({ ...valid, MAX_FEE_GWEI: "1,5" }))).toHaveLength(1);
});

test("never repeats a private key in a fault", () => {
  const secret = `0x${"ab".repeat(31)}`;
  const faults = faultsOf(() => writerConfig({ ...valid, RELAYER_PRIVATE_KEYS: secret }));
  expect(faults).toHaveLength(1);
  expect(faults.join()).not.toContain(secret);
  expect(
    faultsOf(() =>
      writerConfig({
        ...valid,
        RELAYER_PRIVATE_KEYS: `${valid.RELAYER_PRIVATE_KEYS},${valid.RELAYER_PRIVATE_KEYS}`,
      }),
    ),
  ).toEqual(["RELAYER_PRIVATE_KEYS must not contain a key twice"]);
});

test(".env.example explains every variable and no other", () => {
  const text = readFileSync(new URL("../../.env.example", import.meta.url), "utf8");
  const documented = [...text.matchAll(/^([A-Z_]+)=/gm)].map((match) => match[1]);
  expect([...documented].sort()).toEqual([...variableNames].sort());
});

const testnet = { TESTNET_RPC_URL: "http://127.0.0.1:8546", TESTNET_DEPLOYMENT_FILE: "testnet.json" };
const keyOf = (digit: string) => `0x${digit.repeat(64)}`;

test("a partly configured testnet is refused, with the names of all missing variables", () => {
  expect(writerConfig(valid).TESTNET_RPC_URL).toBeUndefined();
  expect(faultsOf(() => apiConfig({ ...valid, TESTNET_RPC_URL: testnet.TESTNET_RPC_URL }))).toEqual([
    "TESTNET_DEPLOYMENT_FILE is required where another variable of the testnet is set",
  ]);
  expect(faultsOf(() => writerConfig({ ...valid, PORT: "x", FAUCET_PRIVATE_KEY: "0x12" }))).toEqual([
    "FAUCET_PRIVATE_KEY must be a private key (0x and 64 hex digits)",
    "TESTNET_RPC_URL is required where another variable of the testnet is set",
    "TESTNET_DEPLOYMENT_FILE is required where another variable of the testnet is set",
  ]);
  expect(faultsOf(() => writerConfig({ ...valid, ...testnet, SANDBOX_PRIVATE_KEY: keyOf("2") }))).toEqual([
    "TESTNET_RELAYER_PRIVATE_KEYS is required with SANDBOX_PRIVATE_KEY: a relayer sends the sandbox's purchases",
  ]);
  expect(() => writerConfig({ ...valid, ...testnet, FAUCET_PRIVATE_KEY: keyOf("2") })).not.toThrow();
});

test("the oracle's key is refused where it is also a wallet's, whatever its case", () => {
  const keys = {
    TESTNET_RELAYER_PRIVATE_KEYS: `${keyOf("c")}, ${keyOf("d")}`,
    SANDBOX_PRIVATE_KEY: keyOf("a"),
  };
  const config = { ...valid, ...testnet, ...keys, FAUCET_PRIVATE_KEY: keyOf("b") };
  expect(writerConfig({ ...config, ORACLE_PRIVATE_KEY: keyOf("2") }).ORACLE_PRIVATE_KEY).toBe(keyOf("2"));
  for (const [key, variable] of [
    ["1", "RELAYER_PRIVATE_KEYS"],
    ["D", "TESTNET_RELAYER_PRIVATE_KEYS"],
    ["A", "SANDBOX_PRIVATE_KEY"],
    ["b", "FAUCET_PRIVATE_KEY"],
  ] as const) {
    expect(faultsOf(() => writerConfig({ ...config, ORACLE_PRIVATE_KEY: keyOf(key) }))).toEqual([
      `ORACLE_PRIVATE_KEY is also a key of ${variable}`,
    ]);
  }
});

test("the keeper's key is refused where it is also another wallet's or the oracle's", () => {
  const config = { ...valid, KEEPER_PRIVATE_KEY: keyOf("1") };
  expect(faultsOf(() => writerConfig(config))).toEqual([
    "KEEPER_PRIVATE_KEY is also a key of RELAYER_PRIVATE_KEYS",
  ]);
  const own = { ...valid, KEEPER_PRIVATE_KEY: keyOf("2") };
  expect(writerConfig(own).KEEPER_PRIVATE_KEY).toBe(keyOf("2"));
  expect(faultsOf(() => writerConfig({ ...own, ORACLE_PRIVATE_KEY: keyOf("2") }))).toEqual([
    "ORACLE_PRIVATE_KEY is also a key of KEEPER_PRIVATE_KEY",
  ]);
});

const publicKeyOf = (digit: string) => `0x${privateKeyToAccount(`0x${digit.repeat(64)}`).publicKey.slice(4)}`;
const { RELAYER_PRIVATE_KEYS: _, ...withoutKeys } = valid;

test("public keys need a signer, and replace or join private ones", () => {
  const keys = { RELAYER_PUBLIC_KEYS: `${publicKeyOf("1")}, ${publicKeyOf("2")}` };
  expect(
    faultsOf(() => writerConfig({ ...withoutKeys, ...keys, KEEPER_PUBLIC_KEY: publicKeyOf("3") })),
  ).toEqual(["SIGNER_URL is required with RELAYER_PUBLIC_KEYS and KEEPER_PUBLIC_KEY"]);
  const signer = { SIGNER_URL: "http://127.0.0.1:9000" };
  expect(writerConfig({ ...withoutKeys, ...keys, ...signer }).RELAYER_PUBLIC_KEYS).toHaveLength(2);
  const both = { ...withoutKeys, ...keys, ...signer, RELAYER_PRIVATE_KEYS: keyOf("3") };
  expect(() => writerConfig(both)).not.toThrow();
  expect(faultsOf(() => writerConfig({ ...both, RELAYER_PRIVATE_KEYS: keyOf("2") }))).toEqual([
    "RELAYER_PUBLIC_KEYS is also a key of RELAYER_PRIVATE_KEYS",
  ]);
  expect(faultsOf(() => writerConfig({ ...withoutKeys, ...signer }))).toEqual([
    "RELAYER_PRIVATE_KEYS is required",
  ]);
});

test("a wallet has one key and one role, whether its key is here or with the signer", () => {
  const config = { ...valid, ...testnet, SIGNER_URL: "https://signer.example/path/" };
  const faults = (more: Record<string, string>) => faultsOf(() => writerConfig({ ...config, ...more }));
  expect(faults({ KEEPER_PRIVATE_KEY: keyOf("2"), KEEPER_PUBLIC_KEY: publicKeyOf("3") })).toEqual([
    "KEEPER_PUBLIC_KEY must not be set together with KEEPER_PRIVATE_KEY: it is one key",
  ]);
  expect(faults({ KEEPER_PUBLIC_KEY: publicKeyOf("1") })).toEqual([
    "KEEPER_PUBLIC_KEY is also a key of RELAYER_PRIVATE_KEYS",
  ]);
  expect(faults({ ORACLE_PRIVATE_KEY: keyOf("2"), KEEPER_PUBLIC_KEY: publicKeyOf("2") })).toEqual([
    "ORACLE_PRIVATE_KEY is also a key of KEEPER_PUBLIC_KEY",
  ]);
  expect(faults({ FAUCET_PUBLIC_KEY: publicKeyOf("2"), TESTNET_RELAYER_PRIVATE_KEYS: keyOf("2") })).toEqual([
    "FAUCET_PUBLIC_KEY is also the key of another wallet of the testnet",
  ]);
  expect(faults({ SANDBOX_PUBLIC_KEY: publicKeyOf("2") })).toEqual([
    "TESTNET_RELAYER_PRIVATE_KEYS is required with SANDBOX_PUBLIC_KEY: a relayer sends the sandbox's purchases",
  ]);
});

test("bad public keys and a bad signer are named together with all other faults", () => {
  const offCurve = `${publicKeyOf("2").slice(0, -4)}0000`;
  const config = {
    ...withoutKeys,
    SIGNER_URL: "http://user:secret@127.0.0.1",
    RELAYER_PUBLIC_KEYS: offCurve,
  };
  const faults = faultsOf(() =>
    writerConfig({ ...config, KEEPER_PUBLIC_KEY: keyOf("2"), PURCHASE_TTL: "0" }),
  );
  expect(faults).toEqual([
    "SIGNER_URL must be a URL without a login, a query or a fragment",
    expect.stringMatching(/^RELAYER_PUBLIC_KEYS must be uncompressed public keys/),
    expect.stringMatching(/^KEEPER_PUBLIC_KEY must be an uncompressed public key/),
    expect.stringMatching(/^PURCHASE_TTL/),
  ]);
  expect(faults.join()).not.toContain("secret");
});

test("each testnet wallet needs its own key, which may also be used on the main chain", () => {
  const keys = { TESTNET_RELAYER_PRIVATE_KEYS: valid.RELAYER_PRIVATE_KEYS, SANDBOX_PRIVATE_KEY: keyOf("a") };
  expect(() => writerConfig({ ...valid, ...testnet, ...keys, FAUCET_PRIVATE_KEY: keyOf("b") })).not.toThrow();
  expect(
    faultsOf(() => writerConfig({ ...valid, ...testnet, ...keys, FAUCET_PRIVATE_KEY: keyOf("A") })),
  ).toEqual(["FAUCET_PRIVATE_KEY is also the key of another wallet of the testnet"]);
  expect(
    faultsOf(() => writerConfig({ ...valid, ...testnet, ...keys, SANDBOX_PRIVATE_KEY: keyOf("1") })),
  ).toEqual(["SANDBOX_PRIVATE_KEY is also the key of another wallet of the testnet"]);
});

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { ConfigError } from "../../lib/config-error.ts";
import {
  contractKeys,
  readDeployment,
  requireDeployment,
  requireTestnetDeployment,
} from "../../lib/deployments.ts";

const folder = mkdtempSync(join(tmpdir(), "deployments-"));
afterAll(() => rmSync(folder, { recursive: true }));

const address = (index: number) => `0x${(index + 0xabc).toString(16).padStart(40, "0")}`;
const complete = {
  chainId: 8453,
  name: "Test chain",
  startBlock: 7,
  contracts: Object.fromEntries(contractKeys.map((key, index) => [key, address(index)])),
};

function file(content: unknown): string {
  const path = join(folder, `${Math.random()}.json`);
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}

test("reads a complete file with checksummed addresses and safe defaults", () => {
  const deployment = requireDeployment(file(complete));
  const defaults = { local: false, release: "V5.4", explorerUrl: null };
  expect(deployment).toMatchObject({ chainId: 8453, startBlock: 7, ...defaults });
  expect(deployment.contracts.coverRouter).toBe("0x0000000000000000000000000000000000000aBc");
});

test("names the contracts that a file lacks", () => {
  const { usdc: _, marketplace: __, ...contracts } = complete.contracts;
  const path = file({ ...complete, contracts });
  expect(readDeployment(path)).toMatchObject({ missing: ["marketplace", "usdc"] });
  expect(() => requireDeployment(path)).toThrow(
    /contracts\.marketplace is missing[\s\S]*contracts\.usdc is missing/,
  );
});

test.each([
  ["an absent file", () => join(folder, "absent.json"), /ENOENT/],
  ["a file that is not JSON", () => file("{"), /JSON/],
  [
    "a bad address",
    () => file({ ...complete, contracts: { ...complete.contracts, usdc: "0x12" } }),
    /contracts\.usdc is not an address/,
  ],
  [
    "an oracle without the contract that checks its signatures",
    () => file({ ...complete, oracle: { name: "Oracle", version: "1" } }),
    /oracle\.verifyingContract is not an address/,
  ],
  ["a start block of the wrong type", () => file({ ...complete, startBlock: "" }), /startBlock/],
])("refuses %s with a reason", (_, path, message) => {
  expect(() => readDeployment(path())).toThrow(ConfigError);
  expect(() => readDeployment(path())).toThrow(message);
});

test("accepts a testnet deployment only on a known testnet other than the main chain", () => {
  const of = (chainId: number) => file({ ...complete, chainId });
  expect(requireTestnetDeployment(of(84532), 8453).chainId).toBe(84532);
  for (const chainId of [1, 10, 8453, 84531, 31337]) {
    expect(() => requireTestnetDeployment(of(chainId), 7)).toThrow(
      new RegExp(`TESTNET_DEPLOYMENT_FILE .*chain ${chainId} is no testnet`),
    );
  }
  expect(() => requireTestnetDeployment(of(84532), 84532)).toThrow(
    /is also the main chain of DEPLOYMENT_FILE/,
  );
  expect(() => requireTestnetDeployment("nowhere.json", 8453)).toThrow(
    /TESTNET_DEPLOYMENT_FILE nowhere\.json/,
  );
});

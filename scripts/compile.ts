/**
 * `npm run compile` builds every contract with npm's solc: artefacts (ABI and bytecode) in `.data/artifacts`, which git
 * ignores, and `abis/<Contract>.ts` for each contract that the service uses; with the bytecode, if the service itself sends
 * it. `--check` writes nothing and fails when `abis/` differs from the compiled sources.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { projectRoot } from "../lib/project-root.ts";

const require = createRequire(import.meta.url);
const artifactsFolder = join(projectRoot, ".data", "artifacts");

/**
 * Contracts with a file in `abis/`: source in `contracts/`, contract, the file's name where it differs, and whether the file
 * has the creation code too.
 */
const published: ReadonlyArray<{ file: string; contract: string; abi?: string; withCode?: true }> = [
  { file: "CoverRouter.sol", contract: "CoverRouter" },
  { file: "PolicyManager.sol", contract: "PolicyManager" },
  { file: "FlashShield.sol", contract: "FlashShield" },
  { file: "ShieldAdapter.sol", contract: "ShieldAdapter" },
  { file: "ShieldKeeper.sol", contract: "ShieldKeeper" },
  { file: "BondVault.sol", contract: "BondVault" },
  { file: "ClaimBond.sol", contract: "ClaimBond" },
  { file: "BondMarketplace.sol", contract: "BondMarketplace" },
  { file: "TwapBurner.sol", contract: "TwapBurner" },
  { file: "BuybackEngine.sol", contract: "BuybackEngine" },
  { file: "GlobalPauseRegistry.sol", contract: "GlobalPauseRegistry" },
  { file: "ProtocolToken.sol", contract: "ProtocolToken" },
  { file: "local/PriceOracle.sol", contract: "PriceOracle" },
  { file: "mocks/MockUSDC.sol", contract: "MockUSDC" },
  { file: "interfaces/IPriceFeed.sol", contract: "IPriceFeed", abi: "PriceFeed" },
  { file: "interfaces/IPriceFeedProxy.sol", contract: "IPriceFeedProxy", abi: "PriceFeedProxy" },
  { file: "interfaces/IPriceAggregator.sol", contract: "IPriceAggregator", abi: "PriceAggregator" },
  { file: "mocks/MockPriceFeed.sol", contract: "MockPriceFeed" },
  { file: "mocks/MockAggregator.sol", contract: "MockAggregator" },
  { file: "mocks/MockSequencerFeed.sol", contract: "MockSequencerFeed" },
  { file: "PriceProofVerifier.sol", contract: "PriceProofVerifier" },
  { file: "local/Proxy.sol", contract: "Proxy" },
  { file: "local/ForkedAggregator.sol", contract: "ForkedAggregator" },
  { file: "SignatureCheck.sol", contract: "SignatureCheck", withCode: true },
];

type Artifact = { abi: unknown[]; evm: { bytecode: { object: string } } };
type SolcOutput = {
  errors?: { severity: string; formattedMessage: string }[];
  contracts?: Record<string, Record<string, Artifact>>;
};

/** To be raised when the same sources give different files. */
const outputVersion = 2;

const settings = {
  // Optimising takes four times as long and saves 7 % of the gas of a purchase.
  optimizer: { enabled: false },
  evmVersion: "cancun",
};

function readSources(): Record<string, { content: string }> {
  const folder = join(projectRoot, "contracts");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((f) => f.endsWith(".sol"))
    .sort();
  return Object.fromEntries(
    files.map((f) => [f.replaceAll("\\", "/"), { content: readFileSync(join(folder, f), "utf8") }]),
  );
}

function build(sources: Record<string, { content: string }>): Record<string, Record<string, Artifact>> {
  const solc = require("solc") as {
    compile(
      input: string,
      callbacks: { import(path: string): { contents: string } | { error: string } },
    ): string;
  };
  const findImport = (path: string) => {
    const file = join(projectRoot, "node_modules", path);
    return existsSync(file) ? { contents: readFileSync(file, "utf8") } : { error: `${path} not found` };
  };
  // Only published contracts: bytecode for every imported contract would take twice the time.
  const outputSelection = Object.fromEntries(
    published.map(({ file, contract }) => [file, { [contract]: ["abi", "evm.bytecode.object"] }]),
  );
  const input = JSON.stringify({ language: "Solidity", sources, settings: { ...settings, outputSelection } });
  const output = JSON.parse(solc.compile(input, { import: findImport })) as SolcOutput;
  const faults = (output.errors ?? []).filter((e) => e.severity !== "info");
  for (const fault of faults) console.error(fault.formattedMessage);
  if (faults.some((e) => e.severity === "error") || !output.contracts) {
    throw new Error("solc found errors; see above");
  }
  return output.contracts;
}

function abiModule(name: string, { abi, evm }: Artifact, withCode = false): string {
  const words = name.replace(/[A-Z]{2,}$/, (acronym) => `${acronym[0]}${acronym.slice(1).toLowerCase()}`);
  const prefix = `${words[0]?.toLowerCase()}${words.slice(1)}`;
  const constants = [
    `export const ${prefix}Abi = ${JSON.stringify(abi, null, 2)} as const;\n`,
    ...(withCode ? [`export const ${prefix}Bytecode =\n  "0x${evm.bytecode.object}";\n`] : []),
  ];
  return `// Generated by \`npm run compile\` from contracts/; do not edit.\n${constants.join("\n")}`;
}

/** Compiles when the sources, the settings or the compiler's version have changed since the last run. */
export function compile({ check = false } = {}): void {
  const sources = readSources();
  const { version } = JSON.parse(readFileSync(require.resolve("solc/package.json"), "utf8")) as {
    version: string;
  };
  const digest = createHash("sha256")
    .update(JSON.stringify({ sources, settings, version, published, outputVersion }))
    .digest("hex");
  const stamp = join(artifactsFolder, "digest");
  const fresh = !check && existsSync(stamp) && readFileSync(stamp, "utf8") === digest;
  const abisExist = published.every((p) =>
    existsSync(join(projectRoot, "abis", `${p.abi ?? p.contract}.ts`)),
  );
  if (fresh && abisExist) return;

  const contracts = build(sources);
  const stale: string[] = [];
  for (const { file, contract, abi = contract, withCode } of published) {
    const artifact = contracts[file]?.[contract];
    if (!artifact) throw new Error(`contracts/${file} has no contract ${contract}`);
    const path = join(projectRoot, "abis", `${abi}.ts`);
    const text = abiModule(abi, artifact, withCode);
    if (!existsSync(path) || readFileSync(path, "utf8") !== text) {
      stale.push(`abis/${abi}.ts`);
      if (!check) writeFileSync(path, text);
    }
  }
  if (check) {
    if (stale.length > 0) throw new Error(`out of date: ${stale.join(", ")}; run \`npm run compile\``);
    return;
  }
  mkdirSync(artifactsFolder, { recursive: true });
  for (const byName of Object.values(contracts)) {
    for (const [name, { abi, evm }] of Object.entries(byName)) {
      if (evm.bytecode.object === "") continue;
      writeFileSync(
        join(artifactsFolder, `${name}.json`),
        JSON.stringify({ abi, bytecode: `0x${evm.bytecode.object}` }),
      );
    }
  }
  writeFileSync(stamp, digest);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) compile({ check: process.argv.includes("--check") });

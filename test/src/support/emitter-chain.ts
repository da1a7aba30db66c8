/** A chain whose indexed contracts are all an `Emitter`, so that a test can write any logs in any order. */
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  type Abi,
  type AbiEvent,
  type Address,
  encodeAbiParameters,
  encodeEventTopics,
  type Hex,
  type TransactionReceipt,
} from "viem";
import { z } from "zod";
import { bondVaultAbi } from "../../../abis/BondVault.ts";
import { policyManagerAbi } from "../../../abis/PolicyManager.ts";
import { shieldAdapterAbi } from "../../../abis/ShieldAdapter.ts";
import type { Contracts } from "../../../lib/deployments.ts";
import { allTerms } from "../../../scripts/local/protocol/terms.ts";
import { startChain, type TestChain } from "../../support/chain.ts";

const folder = dirname(fileURLToPath(import.meta.url));

/** A log: contract, topics and data. */
export type Entry = { readonly at: Address; readonly topics: readonly Hex[]; readonly data: Hex };

const emitterAbi = [
  {
    type: "function",
    name: "emitAll",
    stateMutability: "nonpayable",
    outputs: [],
    inputs: [
      {
        name: "entries",
        type: "tuple[]",
        components: [
          { name: "at", type: "address" },
          { name: "topics", type: "bytes32[]" },
          { name: "data", type: "bytes" },
        ],
      },
    ],
  },
] as const;

const solcOutput = z.object({
  contracts: z.object({
    "Emitter.sol": z.object({
      Emitter: z.object({ evm: z.object({ deployedBytecode: z.object({ object: z.string() }) }) }),
    }),
  }),
});

let compiled: Hex | undefined;

/** The emitter's code, compiled once in a process: several files of a worker need it. */
function emitterCode(): Hex {
  compiled ??= compileEmitter();
  return compiled;
}

function compileEmitter(): Hex {
  const solc: { compile(input: string): string } = createRequire(import.meta.url)("solc");
  const input = {
    language: "Solidity",
    sources: { "Emitter.sol": { content: readFileSync(join(folder, "Emitter.sol"), "utf8") } },
    settings: { outputSelection: { "*": { "*": ["evm.deployedBytecode.object"] } } },
  };
  const output = solcOutput.parse(JSON.parse(solc.compile(JSON.stringify(input))));
  return `0x${output.contracts["Emitter.sol"].Emitter.evm.deployedBytecode.object}`;
}

/** The log of an event with these arguments, emitted by the contract at `at`. */
export function entry(at: Address, abi: Abi, event: string, args: Readonly<Record<string, unknown>>): Entry {
  const item = abi.find((i): i is AbiEvent => i.type === "event" && i.name === event);
  if (item === undefined) throw new Error(`no event ${event}`);
  for (const { name } of item.inputs) {
    if (name === undefined || !(name in args)) throw new Error(`${event} needs ${name}`);
  }
  const topics = encodeEventTopics({ abi: [item], eventName: event, args }).map((topic) => {
    if (typeof topic !== "string") throw new Error(`${event}: a topic of more than one value`);
    return topic;
  });
  const plain = item.inputs.filter((input) => !input.indexed);
  return {
    at,
    topics,
    data: encodeAbiParameters(
      plain,
      plain.map(({ name }) => args[name ?? ""]),
    ),
  };
}

export type EmitterChain = TestChain & {
  readonly contracts: Contracts;
  /** The adapter and the shield of each product, by its id. */
  readonly shields: ReadonlyMap<Hex, { readonly adapter: Address; readonly shield: Address }>;
  /** The vault's source of the token's price. */
  readonly priceOracle: Address;
  /** Writes the logs in one transaction, in this order. */
  readonly emit: (...entries: Entry[]) => Promise<TransactionReceipt>;
};

async function findShields({ client, deployment }: TestChain): Promise<EmitterChain["shields"]> {
  const manager = { abi: policyManagerAbi, address: deployment.contracts.policyManager } as const;
  const found = await Promise.all(
    allTerms.map(async ({ productId }) => {
      const adapter = await client.readContract({
        ...manager,
        functionName: "productShield",
        args: [productId],
      });
      const shield = await client.readContract({
        abi: shieldAdapterAbi,
        address: adapter,
        functionName: "shield",
      });
      return [productId, { adapter, shield }] as const;
    }),
  );
  return new Map(found);
}

/**
 * Starts a chain and replaces each contract by an emitter, which still answers views. The index starts after that, so it has
 * no events about products.
 */
export async function startEmitterChain(): Promise<EmitterChain> {
  const chain = await startChain();
  const { client, deployment } = chain;
  const { contracts } = deployment;
  const bytecode = emitterCode();
  const shields = await findShields(chain);
  const priceOracle = await client.readContract({
    ...{ abi: bondVaultAbi, address: contracts.bondVault, functionName: "priceOracle" },
  });
  const behind = [priceOracle, ...[...shields.values()].flatMap(({ adapter, shield }) => [adapter, shield])];
  for (const address of [...Object.values(contracts), ...behind]) await client.setCode({ address, bytecode });
  const deploymentFile = `${chain.deploymentFile}.emitters.json`;
  const startBlock = Number(await client.getBlockNumber()) + 1;
  writeFileSync(deploymentFile, JSON.stringify({ ...deployment, startBlock }));

  return {
    ...chain,
    deploymentFile,
    contracts,
    shields,
    priceOracle,
    async emit(...entries) {
      const hash = await client.writeContract({
        account: chain.owner,
        abi: emitterAbi,
        address: contracts.coverRouter,
        functionName: "emitAll",
        args: [entries],
      });
      const receipt = await client.waitForTransactionReceipt({ hash });
      if (receipt.status !== "success") throw new Error("the logs were not written");
      return receipt;
    },
  };
}

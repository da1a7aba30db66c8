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
import type { Contracts } from "../../../lib/deployments.ts";
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
  /** Writes the logs in one transaction, in this order. */
  readonly emit: (...entries: Entry[]) => Promise<TransactionReceipt>;
};

/**
 * Starts a chain and replaces each contract by an emitter. The index starts after that, so it has no events about products,
 * as on a network whose contracts emit fewer events than ours.
 */
export async function startEmitterChain(): Promise<EmitterChain> {
  const chain = await startChain();
  const { client, deployment } = chain;
  const { contracts } = deployment;
  const bytecode = emitterCode();
  for (const address of Object.values(contracts)) await client.setCode({ address, bytecode });
  const deploymentFile = `${chain.deploymentFile}.emitters.json`;
  const startBlock = Number(await client.getBlockNumber()) + 1;
  writeFileSync(deploymentFile, JSON.stringify({ ...deployment, startBlock }));

  return {
    ...chain,
    deploymentFile,
    contracts,
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

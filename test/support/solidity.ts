/** Contracts of tests, compiled by the protocol's compiler; they are no part of the protocol. */
import { createRequire } from "node:module";
import type { Hex } from "viem";
import { z } from "zod";

const code = z.object({ object: z.string().transform((bytes): Hex => `0x${bytes}`) });
const output = z.object({
  contracts: z.object({
    source: z.record(z.string(), z.object({ evm: z.object({ bytecode: code, deployedBytecode: code }) })),
  }),
});

/** The code that creates a contract of a Solidity source, and the code that it then has, where it has no immutables. */
export function compile(source: string, contract: string): { readonly creation: Hex; readonly runtime: Hex } {
  const solc: { compile(input: string): string } = createRequire(import.meta.url)("solc");
  const outputSelection = { source: { [contract]: ["evm.bytecode.object", "evm.deployedBytecode.object"] } };
  const settings = { evmVersion: "cancun", outputSelection };
  const text = `// SPDX-License-Identifier: UNLICENSED\npragma solidity ^0.8.28;\n${source}`;
  const input = { language: "Solidity", sources: { source: { content: text } }, settings };
  const found = output.parse(JSON.parse(solc.compile(JSON.stringify(input)))).contracts.source[contract];
  if (!found) throw new Error(`the source has no contract ${contract}`);
  return { creation: found.evm.bytecode.object, runtime: found.evm.deployedBytecode.object };
}

import { parseArgs } from "node:util";
import { ConfigError } from "../../lib/config-error.ts";

/** The main chain: a fresh one, or a fork of the chain behind `rpcUrl`. */
export type ChainSource =
  | { readonly kind: "fresh" }
  | { readonly kind: "fork"; readonly rpcUrl: string; readonly deploymentFile: string };

const usage = `npm run dev                                             a fresh chain with a seeded history
npm run dev -- --fork <rpc-url> --deployment <file>    the main chain is a fork; contract addresses come from the file`;

/** Parses the command line. @throws {ConfigError} with the usage when it is invalid. */
export function parseDevArguments(argv: readonly string[]): ChainSource {
  let values: { fork?: string | undefined; deployment?: string | undefined };
  try {
    const options = { fork: { type: "string" }, deployment: { type: "string" } } as const;
    ({ values } = parseArgs({ args: [...argv], options }));
  } catch (error) {
    throw new ConfigError([error instanceof Error ? error.message : String(error), usage]);
  }
  const { fork, deployment } = values;
  if (fork === undefined && deployment === undefined) return { kind: "fresh" };
  if (fork === undefined || deployment === undefined) {
    throw new ConfigError(["--fork and --deployment go together", usage]);
  }
  if (!URL.canParse(fork)) throw new ConfigError([`--fork ${fork} is not a URL`, usage]);
  return { kind: "fork", rpcUrl: fork, deploymentFile: deployment };
}

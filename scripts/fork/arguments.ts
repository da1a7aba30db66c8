import { join } from "node:path";
import { parseArgs } from "node:util";
import { ConfigError } from "../../lib/config-error.ts";
import { projectRoot } from "../../lib/project-root.ts";

export type ForkArguments = {
  /** The node whose chain is forked. */
  readonly rpcUrl: string;
  /** The fork has the state after this block; the newest one when left out. */
  readonly block: bigint | undefined;
  readonly deploymentFile: string;
};

const usage = `npm run fork -- --rpc <url> [--block <number>] [--deployment <file>]

  --rpc         the node whose chain is forked, http or https
  --block       fork the state after this block; the newest one when left out
  --deployment  the contracts' addresses; deployments/base.json when left out`;

/** Parses the command line. @throws {ConfigError} that names each fault, with the usage */
export function parseForkArguments(argv: readonly string[]): ForkArguments {
  const options = {
    rpc: { type: "string" },
    block: { type: "string" },
    deployment: { type: "string" },
  } as const;
  let values: { rpc?: string | undefined; block?: string | undefined; deployment?: string | undefined };
  try {
    ({ values } = parseArgs({ args: [...argv], options }));
  } catch (error) {
    throw new ConfigError([error instanceof Error ? error.message : String(error), usage]);
  }
  const { rpc, block, deployment } = values;
  const faults: string[] = [];
  if (rpc === undefined) faults.push("--rpc is missing");
  else if (!/^https?:$/.test(URL.parse(rpc)?.protocol ?? "")) faults.push("--rpc is no http or https URL");
  if (block !== undefined && !/^\d{1,15}$/.test(block)) faults.push(`--block ${block} is no block number`);
  if (rpc === undefined || faults.length > 0) throw new ConfigError([...faults, usage]);
  return {
    rpcUrl: rpc,
    block: block === undefined ? undefined : BigInt(block),
    deploymentFile: deployment ?? join(projectRoot, "deployments", "base.json"),
  };
}

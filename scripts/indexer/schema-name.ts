import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Deployment } from "../../lib/deployments.ts";
import { projectRoot } from "../../lib/project-root.ts";

/** Ponder's manifest, by its path: the package exports no such name that could be resolved. */
export const ponderManifest = join(projectRoot, "node_modules", "ponder", "package.json");

/** The files whose contents decide what rows an indexer writes; paths from the root, sorted. */
function buildFiles(): string[] {
  const within = (folder: string) =>
    readdirSync(join(projectRoot, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(projectRoot.length + 1));
  // src/api is Ponder's own HTTP surface; it writes nothing.
  const sources = within("src").filter((file) => !file.startsWith(join("src", "api")));
  return ["ponder.config.ts", "ponder.schema.ts", ...within("abis"), ...sources].sort();
}

/**
 * The Postgres schema of an indexer, which follows from all that decides its rows: Ponder's version, the projections,
 * the ABIs, the contracts' addresses, where reading starts, and the chain itself. The same build on the same chain
 * finds its rows again; any other one starts a schema of its own.
 */
export function indexerSchemaName(
  deployment: Deployment,
  chain: { genesisHash: string; startBlock: number },
): string {
  const hash = createHash("sha256");
  hash.update(readFileSync(ponderManifest));
  for (const file of buildFiles()) hash.update(`\0${file}\0`).update(readFileSync(join(projectRoot, file)));
  hash.update(JSON.stringify([deployment.chainId, chain, Object.entries(deployment.contracts).sort()]));
  return `idx_${hash.digest("hex").slice(0, 12)}`;
}

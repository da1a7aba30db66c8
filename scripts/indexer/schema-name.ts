import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import type { Deployment } from "../../lib/deployments.ts";
import { projectRoot } from "../../lib/project-root.ts";
import type { IndexedSources } from "../../src/shared/sources.ts";

/** The path of Ponder's package.json, which the package does not export. Only there where the bundle is built. */
export const ponderManifest = join(projectRoot, "node_modules", "ponder", "package.json");

/** The files that determine an indexer's rows; sorted paths from the root. */
function buildFiles(root: string): string[] {
  const within = (folder: string) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(root, join(entry.parentPath, entry.name)));
  // src/api is Ponder's HTTP API; it writes nothing.
  const sources = within("src").filter((file) => !file.startsWith(join("src", "api")));
  return ["ponder.config.ts", "ponder.schema.ts", ...within("abis"), ...sources].sort();
}

/** A hash of Ponder's version, the projections of a folder, and the ABIs. */
export function buildHash(root: string, ponderVersion: string): string {
  const hash = createHash("sha256").update(ponderVersion);
  for (const file of buildFiles(root)) hash.update(`\0${file}\0`).update(readFileSync(join(root, file)));
  return hash.digest("hex");
}

/**
 * The name of an indexer's Postgres schema: a hash of everything that determines its rows (Ponder's version and
 * our patches, the projections, the ABIs, the contracts' addresses, what the chain tells of them, the catalogue, the first block, and
 * the chain).
 * The same build on the same chain continues in its schema; any other one starts a new schema. `build`: the bundle's `builtFrom`
 * and `patches`.
 */
export function indexerSchemaName(
  build: readonly string[],
  deployment: Pick<Deployment, "chainId" | "contracts">,
  chain: { genesisHash: string; startBlock: number },
  { prices, sequencer, shields, priceOracle, catalogue }: Omit<IndexedSources, "firstBlock" | "statesFrom">,
): string {
  const hash = createHash("sha256").update(build.join());
  hash.update(JSON.stringify([deployment.chainId, chain, Object.entries(deployment.contracts).sort()]));
  // Only what every node tells alike: how much of the past it remembers must not make another build.
  const phases = prices.map(({ proxy, phases: all }) => [proxy, all.map(({ aggregator }) => aggregator)]);
  hash.update(JSON.stringify([phases, sequencer.aggregators, shields, priceOracle, catalogue]));
  return `idx_${hash.digest("hex").slice(0, 12)}`;
}

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Deployment } from "../../lib/deployments.ts";
import { projectRoot } from "../../lib/project-root.ts";
import type { IndexedFeeds } from "../../src/shared/price-feeds.ts";

/** The path of Ponder's package.json, which the package does not export. */
export const ponderManifest = join(projectRoot, "node_modules", "ponder", "package.json");

/** The files that determine an indexer's rows; sorted paths from the root. */
function buildFiles(): string[] {
  const within = (folder: string) =>
    readdirSync(join(projectRoot, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(projectRoot.length + 1));
  // src/api is Ponder's HTTP API; it writes nothing.
  const sources = within("src").filter((file) => !file.startsWith(join("src", "api")));
  return ["ponder.config.ts", "ponder.schema.ts", ...within("abis"), ...sources].sort();
}

/**
 * The name of an indexer's Postgres schema: a hash of everything that determines its rows (Ponder's version, the
 * projections, the ABIs, the contracts' addresses, the aggregators of the price feeds, the first block, and the chain). The
 * same build on the same chain continues in its schema; any other one starts a new schema.
 */
export function indexerSchemaName(
  deployment: Deployment,
  chain: { genesisHash: string; startBlock: number },
  { prices, sequencer }: Pick<IndexedFeeds, "prices" | "sequencer">,
): string {
  const hash = createHash("sha256");
  hash.update(readFileSync(ponderManifest));
  for (const file of buildFiles()) hash.update(`\0${file}\0`).update(readFileSync(join(projectRoot, file)));
  hash.update(JSON.stringify([deployment.chainId, chain, Object.entries(deployment.contracts).sort()]));
  // Only what every node tells alike: how much of the past it remembers must not make another build.
  const phases = prices.map(({ proxy, phases: all }) => [proxy, all.map(({ aggregator }) => aggregator)]);
  hash.update(JSON.stringify([phases, sequencer.aggregators]));
  return `idx_${hash.digest("hex").slice(0, 12)}`;
}

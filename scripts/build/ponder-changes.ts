/** What the indexer's bundle changes in Ponder's text. */

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { projectRoot } from "../../lib/project-root.ts";
import { ponderManifest } from "../indexer/schema-name.ts";
import { blockChanges } from "./block-changes.ts";
import { cacheChanges } from "./cache-changes.ts";
import { reorgChanges } from "./reorg-changes.ts";
import { syncChanges } from "./sync-changes.ts";
import type { Change, PackageChanges } from "./text-changes.ts";

/** Where Ponder compares the height of a new head with its own: it takes a head that is not higher for a reorganisation. */
const HEIGHT_CHECK = "if (hexToNumber(latestBlock.number) >= hexToNumber(block.number)) {";
/**
 * Ponder polls without waiting for the answer before, so one may come late, and a node behind a load balancer may be behind.
 * Neither takes blocks back: the head is one of the blocks that Ponder has. After a reorganisation it has another hash.
 */
const ignoreKnownHeads: Change = {
  text: HEIGHT_CHECK,
  becomes: `if (unfinalizedBlocks.some(({ hash }) => hash === block.hash)) {
            blockCallback?.(false);
            return;
        }
        ${HEIGHT_CHECK}`,
};

/**
 * The head is written from the newest block at the start on. The chain may then become shorter, or another node may be behind: Ponder would
 * index the blocks below that height without the head, and readers would see their rows with an older one.
 */
const headFrom = (number: string) =>
  `for (const filter of blockFilters) filter.fromBlock = Math.min(filter.fromBlock ?? 0, ${number});`;
const REORGANISED = `return {
            type: "reorg",
            block: commonAncestor,`;
const RECEIVED = `async *sync(block, blockCallback) {
            try {`;
const keepHead: readonly Change[] = [
  {
    text: REORGANISED,
    becomes: `${headFrom("hexToNumber(commonAncestor.number) + 1")}\n        ${REORGANISED}`,
  },
  { text: RECEIVED, becomes: `${RECEIVED}\n                ${headFrom("hexToNumber(block.number)")}` },
];

/** For live queries over HTTP, which the indexer does not serve, Ponder makes a table in each block, and triggers on each table. */
const CREATE_TRIGGERS =
  "export const createLiveQueryTriggers = async (qb, { namespaceBuild, tables, chainId, }, context) => {";
const noLiveQueryTriggers: Change = { text: CREATE_TRIGGERS, becomes: `${CREATE_TRIGGERS}\n    return;` };
const noLiveQueryTable: Change = {
  text: `await tx.wrap((tx) => tx.execute(\`CREATE TEMP TABLE \${getLiveQueryTempTableName()} (table_name TEXT PRIMARY KEY) ON COMMIT DROP\`), context);`,
  becomes: "",
};

/**
 * Whether a block may have events is looked up in its bloom filter, where an address or a topic stands as three bits of its hash.
 * Ponder would hash those of all filters anew for each block, and parse the bloom filter for each.
 */
const hashOnce: Change = {
  text: `export const isInBloom = (_bloom, input) => {
    const bloom = hexToBytes(_bloom);
    const hash = hexToBytes(keccak256(input));`,
  becomes: `const hashes = new Map();
const hashOf = (input) => {
    const known = hashes.get(input);
    if (known !== undefined) return known;
    if (hashes.size >= 10_000) hashes.clear();
    const hash = keccak256(input, "bytes");
    hashes.set(input, hash);
    return hash;
};
let parsed = { hex: undefined, bytes: undefined };
const bytesOf = (hex) => {
    if (parsed.hex !== hex) parsed = { hex, bytes: hexToBytes(hex) };
    return parsed.bytes;
};
export const isInBloom = (_bloom, input) => {
    const bloom = bytesOf(_bloom);
    const hash = hashOf(input);`,
};

/**
 * Ponder compares each log with all filters, in lower case. The eighth digit tells most apart without a copy in lower case: the case of a
 * letter is its bit 32. Logs are read by address only, so a log without a filter's topic is compared too: that topic is null.
 */
const compareFirst: readonly Change[] = [
  { text: "if (eventValue === undefined)", becomes: "if (eventValue === undefined || eventValue === null)" },
  {
    text: `if (filterValue === toLowerCase(eventValue))
        return true;`,
    becomes: `if (filterValue === eventValue)
        return true;
    if (typeof filterValue !== "string" || ((filterValue.charCodeAt(9) ^ eventValue.charCodeAt(9)) & ~32) !== 0)
        return false;
    if (filterValue === toLowerCase(eventValue))
        return true;`,
  },
];

/** Ponder's compiled modules. */
export const ponder = join(dirname(ponderManifest), "dist", "esm");

export const ponderChanges: PackageChanges = {
  name: "Ponder",
  folder: ponder,
  files: {
    "sync-realtime/index.js": [ignoreKnownHeads, ...keepHead],
    "sync-realtime/bloom.js": [hashOnce],
    "runtime/filter.js": compareFirst,
    "indexing-store/cache.js": [
      ...cacheChanges["indexing-store/cache.js"],
      ...blockChanges["indexing-store/cache.js"],
    ],
    "indexing-store/utils.js": cacheChanges["indexing-store/utils.js"],
    "drizzle/index.js": cacheChanges["drizzle/index.js"],
    ...syncChanges,
    "database/actions.js": [...reorgChanges["database/actions.js"], noLiveQueryTriggers],
    "database/index.js": reorgChanges["database/index.js"],
    "runtime/multichain.js": [...blockChanges["runtime/multichain.js"], noLiveQueryTable],
  },
};

/** What the changed text imports, by a name that is the same wherever the project lies. */
export const changedImports = {
  "indexer-write-rows": join(projectRoot, "scripts", "indexer", "write-rows.ts"),
  "indexer-send-together": join(projectRoot, "scripts", "indexer", "send-together.ts"),
} as const;

/** A hash of all changes: another change makes another build, with a schema of its own. */
export function changesHash(): string {
  const hash = createHash("sha256").update(JSON.stringify(ponderChanges.files));
  for (const module of Object.values(changedImports)) hash.update(readFileSync(module));
  return hash.digest("hex");
}

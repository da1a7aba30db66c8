/**
 * Builds for the same events on the same contracts: with empty handlers, which is the fastest that Ponder can index, and with
 * one plain insert for each event, which is the least that keeps every event.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "../lib/project-root.ts";
import { copyLauncher } from "../scripts/local/source-indexer.ts";

const emptySchema = `import { onchainTable } from "ponder";
export const nothing = onchainTable("nothing", (t) => ({ id: t.integer().primaryKey() }));
`;

/** A row's size is about that of one of our typed rows; a block's event has no log. */
const insertSchema = `import { onchainTable } from "ponder";
export const fact = onchainTable("fact", (t) => ({
  id: t.text().primaryKey(),
  blockNumber: t.bigint().notNull(),
  blockHash: t.hex().notNull(),
  blockTimestamp: t.bigint().notNull(),
  txHash: t.hex(),
  logIndex: t.integer(),
  data: t.hex(),
}));
`;
const insertHandler = `async ({ event, context }) => {
  const { number, hash, timestamp } = event.block;
  await context.db.insert(fact).values({
    id: event.id,
    blockNumber: number,
    blockHash: hash,
    blockTimestamp: timestamp,
    txHash: event.transaction?.hash,
    logIndex: event.log?.logIndex,
    data: event.log?.data,
  });
}`;

/** The names (`Contract:Event`) of all events that our projections handle. */
function handledEvents(): string[] {
  const files = readdirSync(join(projectRoot, "src"), { recursive: true, encoding: "utf8" });
  const names = files
    .filter((file) => file.endsWith(".ts"))
    .flatMap((file) => readFileSync(join(projectRoot, "src", file), "utf8").match(/"[A-Z]\w+:\w+"/g) ?? []);
  return [...new Set(names)].filter((name) => !name.endsWith(':setup"')).sort();
}

function writeBuild(folder: string, schema: string, imports: string, handler: string): void {
  copyLauncher(folder, [join("src", "api")]);
  writeFileSync(join(folder, "ponder.schema.ts"), schema);
  const handlers = handledEvents().map((name) => `ponder.on(${name}, ${handler});`);
  writeFileSync(
    join(folder, "src", "handlers.ts"),
    ['import { ponder } from "ponder:registry";', imports, ...handlers, ""].join("\n"),
  );
}

/** Writes the build with empty handlers to a new folder. */
export const writeEmptyBuild = (folder: string): void =>
  writeBuild(folder, emptySchema, "", "async () => {}");

/** Writes the build with one insert for each event to a new folder. */
export const writeInsertBuild = (folder: string): void =>
  writeBuild(folder, insertSchema, 'import { fact } from "ponder:schema";', insertHandler);

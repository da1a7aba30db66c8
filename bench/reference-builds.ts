/**
 * Builds for the same events on the same contracts, with Ponder as it is published or with our changes: with empty handlers, which is
 * the fastest that Ponder can index, and with one plain insert for each event, which is the least that keeps every event.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "../lib/project-root.ts";
import type { PonderText } from "../scripts/build/indexer-bundle.ts";
import { buildIndexer } from "../scripts/build.ts";
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

async function createBuild(
  folder: string,
  {
    schema,
    imports,
    handler,
  }: { readonly schema: string; readonly imports: string; readonly handler: string },
  ponder: PonderText,
): Promise<void> {
  copyLauncher(folder, [join("src", "api")]);
  writeFileSync(join(folder, "ponder.schema.ts"), schema);
  const handlers = handledEvents().map((name) => `ponder.on(${name}, ${handler});`);
  writeFileSync(
    join(folder, "src", "handlers.ts"),
    ['import { ponder } from "ponder:registry";', imports, ...handlers, ""].join("\n"),
  );
  await buildIndexer(folder, ponder);
}

/** Creates the build with empty handlers in a new folder, and bundles it. */
export const createEmptyBuild = (folder: string, ponder: PonderText): Promise<void> =>
  createBuild(folder, { schema: emptySchema, imports: "", handler: "async () => {}" }, ponder);

/** Creates the build with one insert for each event in a new folder, and bundles it. */
export const createInsertBuild = (folder: string, ponder: PonderText): Promise<void> =>
  createBuild(
    folder,
    { schema: insertSchema, imports: 'import { fact } from "ponder:schema";', handler: insertHandler },
    ponder,
  );

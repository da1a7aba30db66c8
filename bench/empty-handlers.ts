/** A build with empty handlers for the same events on the same contracts: the fastest that Ponder can index. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "../lib/project-root.ts";
import { copyLauncher } from "../scripts/local/source-indexer.ts";

const schema = `import { onchainTable } from "ponder";
export const nothing = onchainTable("nothing", (t) => ({ id: t.integer().primaryKey() }));
`;

/** The names (`Contract:Event`) of all events that our projections handle. */
function handledEvents(): string[] {
  const files = readdirSync(join(projectRoot, "src"), { recursive: true, encoding: "utf8" });
  const names = files
    .filter((file) => file.endsWith(".ts"))
    .flatMap((file) => readFileSync(join(projectRoot, "src", file), "utf8").match(/"[A-Z]\w+:\w+"/g) ?? []);
  return [...new Set(names)].sort();
}

/** Writes this build to a new folder. */
export function writeEmptyBuild(folder: string): void {
  copyLauncher(folder, [join("src", "api")]);
  writeFileSync(join(folder, "ponder.schema.ts"), schema);
  const handlers = handledEvents().map((name) => `ponder.on(${name}, async () => {});`);
  writeFileSync(
    join(folder, "src", "nothing.ts"),
    ['import { ponder } from "ponder:registry";', ...handlers, ""].join("\n"),
  );
}

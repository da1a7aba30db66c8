/** The limit of the index: the same Ponder on the same contracts, with a handler that does nothing for each event. */
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
/** What the launcher and Ponder read, without the schema and the projections. */
const shared = [
  "package.json",
  "tsconfig.json",
  "ponder.config.ts",
  "ponder-env.d.ts",
  "abis",
  "lib",
  "scripts",
];

const schema = `import { onchainTable } from "ponder";
export const nothing = onchainTable("nothing", (t) => ({ id: t.integer().primaryKey() }));
`;

/** The names of all events that our projections handle: `Contract:Event`. */
function handledEvents(): string[] {
  const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" });
  const names = files
    .filter((file) => file.endsWith(".ts"))
    .flatMap((file) => readFileSync(join(root, "src", file), "utf8").match(/"[A-Z]\w+:\w+"/g) ?? []);
  return [...new Set(names)].sort();
}

/** Writes the build into a new folder. */
export function writeEmptyBuild(folder: string): void {
  mkdirSync(join(folder, "src", "api"), { recursive: true });
  for (const entry of shared) cpSync(join(root, entry), join(folder, entry), { recursive: true });
  // The service's own tables are part of its library, and those of the index part of that.
  cpSync(join(root, "src", "api"), join(folder, "src", "api"), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "ponder.schema.ts"), schema);
  const handlers = handledEvents().map((name) => `ponder.on(${name}, async () => {});`);
  writeFileSync(
    join(folder, "src", "nothing.ts"),
    ['import { ponder } from "ponder:registry";', ...handlers, ""].join("\n"),
  );
}

// Starts a process or the operator's command from its bundle: `node scripts/start.mjs api`.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

// The bundle finds its own arguments where it would if it were started by itself.
const [name] = process.argv.splice(2, 1);
const bundle = new URL(`../dist/${name}.mjs`, import.meta.url);
if (!existsSync(bundle)) {
  console.error(`${fileURLToPath(bundle)} is missing: run \`npm run build\`.`);
  process.exit(1);
}
await import(bundle.href);

// Starts a process or a command of the operator from its bundle: `node scripts/start.mjs api`.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

// Removes the name, so that the bundle finds its arguments as if it were started directly.
const [name] = process.argv.splice(2, 1);
const bundle = new URL(`../dist/${name}.mjs`, import.meta.url);
if (!existsSync(bundle)) {
  console.error(`${fileURLToPath(bundle)} is missing: run \`npm run build\`.`);
  process.exit(1);
}
await import(bundle.href);

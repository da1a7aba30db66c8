// Starts one of the three processes from its bundle: `node scripts/start.mjs api`.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const name = process.argv[2];
const bundle = new URL(`../dist/${name}.mjs`, import.meta.url);
if (!existsSync(bundle)) {
  console.error(`${fileURLToPath(bundle)} is missing: run \`npm run build\`.`);
  process.exit(1);
}
await import(bundle.href);

// Starts a process or a command of the operator from its bundle: `node scripts/start.mjs api`.
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isCurrent, runWithNode } from "./node.mjs";
import { patchesHash } from "./patches.mjs";

function end(message) {
  console.error(message);
  process.exit(1);
}

if (!isCurrent) runWithNode(process.argv.slice(1));
else {
  // Removes the name, so that the bundle finds its arguments as if it were started directly.
  const [name] = process.argv.splice(2, 1);
  const bundle = new URL(`../dist/${name}.mjs`, import.meta.url);
  if (!existsSync(bundle)) end(`${fileURLToPath(bundle)} is missing: run \`npm run build\`.`);
  const applied = new URL("../dist/patches.sha256", import.meta.url);
  if (!existsSync(applied) || readFileSync(applied, "utf8") !== patchesHash())
    end("dist/ was built with other patches than those in patches/: run `npm run build`.");
  await import(bundle.href);
}

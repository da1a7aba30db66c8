// Starts a process or a command of the operator from its bundle: `node scripts/start.mjs api`.
import { executionAsyncResource } from "node:async_hooks";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

// Within a tick, this is the object of `process.nextTick` itself. V8 forgets the shape of these objects when it collects an idle
// process that has none of them, and each further one then costs several times as much: a sixth of the API's time (`npm run bench
// reads`). One that stays keeps their shape.
process.nextTick(() => {
  globalThis.keptTick = executionAsyncResource();
});

// Removes the name, so that the bundle finds its arguments as if it were started directly.
const [name] = process.argv.splice(2, 1);
const bundle = new URL(`../dist/${name}.mjs`, import.meta.url);
if (!existsSync(bundle)) {
  console.error(`${fileURLToPath(bundle)} is missing: run \`npm run build\`.`);
  process.exit(1);
}
await import(bundle.href);

// Starts a process or a command of the operator from its bundle: `node scripts/start.mjs api`.
import { executionAsyncResource } from "node:async_hooks";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

// Keeps an object of `process.nextTick` for good: within a tick, it is the execution's resource. When V8 collects an idle process and
// finds none, it drops their shape, and every later tick costs about three times as much ("What a read costs" in docs/architecture.md).
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

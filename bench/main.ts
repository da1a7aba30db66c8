/** `npm run bench [name …]` runs the named benchmarks, or all of them. Figures are of this machine, in this run. */
import { buildServices } from "../scripts/build.ts";
import { compile } from "../scripts/compile.ts";
import { benchIndex } from "./index-speed.ts";
import { benchPurchases } from "./purchases.ts";
import { benchReads } from "./reads.ts";
import { benchStack } from "./stack.ts";
import { benchWebhooks } from "./webhooks.ts";

const benchmarks: Readonly<Record<string, () => Promise<void>>> = {
  stack: benchStack,
  index: benchIndex,
  reads: benchReads,
  purchases: benchPurchases,
  webhooks: benchWebhooks,
};

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !Object.hasOwn(benchmarks, name));
if (unknown.length > 0) {
  console.error(`No benchmark ${unknown.join(", ")}; there are: ${Object.keys(benchmarks).join(", ")}`);
  process.exit(1);
}
compile(); // a fresh clone has no bytecode to deploy
await buildServices();
for (const [name, run] of Object.entries(benchmarks)) {
  if (asked.length === 0 || asked.includes(name)) await run();
}

/** `npm run bench [name …]` runs the named benchmarks, or all of them. */
import { buildServices } from "../scripts/build.ts";
import { compile } from "../scripts/compile.ts";
import { benchClient } from "./client.ts";
import { benchDashboard } from "./dashboard.ts";
import { benchStack } from "./dev-stack.ts";
import { benchHostile } from "./hostile.ts";
import { benchIndex } from "./index.ts";
import { benchKeeper } from "./keeper.ts";
import { benchLedger } from "./ledger.ts";
import { benchPurchases } from "./purchases.ts";
import { benchReads } from "./reads.ts";
import { benchScale } from "./scale.ts";
import { benchSigning } from "./signing.ts";
import { benchWebhooks } from "./webhooks.ts";

const benchmarks: Readonly<Record<string, () => Promise<void>>> = {
  stack: benchStack,
  index: benchIndex,
  reads: benchReads,
  signing: benchSigning,
  ledger: benchLedger,
  purchases: benchPurchases,
  scale: benchScale,
  webhooks: benchWebhooks,
  keeper: benchKeeper,
  hostile: benchHostile,
  client: benchClient,
  dashboard: benchDashboard,
};

const names = process.argv.slice(2);
const unknown = names.filter((name) => !Object.hasOwn(benchmarks, name));
if (unknown.length > 0) {
  console.error(
    `unknown benchmark ${unknown.join(", ")}; the benchmarks are: ${Object.keys(benchmarks).join(", ")}`,
  );
  process.exit(1);
}
compile(); // a fresh clone has no bytecode to deploy
await buildServices();
for (const [name, run] of Object.entries(benchmarks)) {
  if (names.length === 0 || names.includes(name)) await run();
}

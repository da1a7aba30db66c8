import { existsSync, writeFileSync } from "node:fs";
import { test } from "vitest";
import { DAY } from "../../scripts/local/seed/timeline.ts";
import { seedHistory } from "../../scripts/local/seed.ts";
import { startApi } from "../api/support/api.ts";
import { answersCaughtUp } from "../api/support/caught-up.ts";
test("look", { timeout: 4_000_000 }, async () => {
  const timestamp = BigInt(Math.floor(Date.now() / 1000) - 800 * DAY);
  const api = await startApi({ services: ["indexer", "api"], chainOptions: { timestamp, retired: false } });
  await seedHistory({ rpcUrl: api.chain.url, deployment: api.chain.deployment });
  await answersCaughtUp(api);
  writeFileSync("/tmp/hpb/url", api.stack.apiUrl);
  while (!existsSync("/tmp/hpb/stop")) await new Promise((r) => setTimeout(r, 2000));
});

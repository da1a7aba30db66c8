import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The longest test files of each project. */
const longest = [
  "scripts/deploy.chain",
  "fault/writer-killed",
  "e2e/demo",
  "api/standby.db",
  "scripts/indexer/schema-lock.db",
  "scripts/backup.db",
  "lib/db/lost-connections.db",
  "lib/db/silent-server.db",
  "workers/webhook-deliveries.db",
  "workers/webhook-writers.db",
  "workers/webhook-slow-receivers.db",
  "workers/ledger-query-plans.db",
  "api/purchase",
  "workers/queue-outages.db",
  "scripts/keeper-audit.chain",
  "fault/reorganised-replay",
  "scripts/doctor-servers.chain",
  "api/products",
  "workers/keeper-due.chain",
  // Of the other project:
  "e2e/docs",
  "fault/webhook-faults",
  "fault/keeper-writers",
  "model/model",
  "fault/keeper-conditions",
  "fault/flaky-node",
  "fault/vanished-database",
  "fault/faucet-simultaneous",
  "fault/lost-commits",
  "fault/keeper-reorganised",
  "fault/testnet-away",
  "e2e/database-roles",
  "fault/chain-faults",
  "fault/faucet-wallet",
  "fault/webhook-retries",
  "e2e/indexer-process",
  "e2e/fork",
  "e2e/dev",
  "fault/cancel-fees",
  "dashboard/shell",
  "src/due",
  "src/history",
  "api/purchase-outcomes",
  "api/indexed-reads",
  "dashboard/wallet-actions",
  "dashboard/states",
  "api/live-scan",
  "api/sandbox",
  "api/query-plans",
  "api/faucet-states",
  "api/trigger-evaluation",
  "workers/outbox-restarts",
  "fuzz/fuzz",
];

/** The place in the list, or its length. */
function rank({ moduleId }: TestSpecification): number {
  const index = longest.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
  return index === -1 ? longest.length : index;
}

/** Starts the longest test files first, so that none runs alone at the end. */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}

import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The projects from the longest files to the shortest. A worker runs files of one project: each change starts another worker. */
const projects = ["e2e", "essential", "fault", "service", "db", "contracts", "unit"];

/** The longest test files of each project. */
const longest = [
  "e2e/docs",
  "e2e/database-roles",
  "model/model",
  "fault/keeper-conditions",
  "fault/writer-killed",
  "fault/lost-commits",
  "fault/webhook-faults",
  "fault/vanished-database",
  "fault/flaky-node",
  "fault/chain-faults",
  "fault/keeper-reorganised",
  "fault/keeper-writers",
  "fault/testnet-away",
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
  "workers/webhook-deliveries.db",
  "scripts/deploy.chain",
];

/** The index of the first item that matches, or the length of the list. */
function rankIn(list: readonly string[], matches: (item: string) => boolean): number {
  const index = list.findIndex(matches);
  return index === -1 ? list.length : index;
}
const rank = ({ moduleId }: TestSpecification): number =>
  rankIn(longest, (name) => moduleId.endsWith(`/test/${name}.test.ts`));
const projectRank = ({ project }: TestSpecification): number =>
  rankIn(projects, (name) => name === project.name);

/** Starts each project's longest test files first, and the projects of short files last, so that no file runs alone at the end. */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => projectRank(a) - projectRank(b) || rank(a) - rank(b));
  }
}

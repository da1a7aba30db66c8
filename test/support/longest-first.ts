import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The projects from the longest files to the shortest. A worker runs files of one project: each change starts another worker. */
const projects = ["e2e", "essential", "fault", "service", "db", "contracts", "unit"];

/** Test files that take over a minute. */
const longest = [
  "model/model",
  "e2e/dev",
  "e2e/docs",
  "e2e/database-roles",
  "fault/writer-killed",
  "fault/webhook-faults",
  "fault/vanished-database",
  "fault/filler-killed",
  "fault/keeper-conditions",
  "fault/lost-commits",
  "fault/flaky-node",
  "fault/chain-faults",
  "fault/keeper-reorganised",
  "fault/keeper-overdue",
  "dashboard/shell",
  "src/history",
  "src/due",
  "api/purchase-outcomes",
  "api/trigger-evaluation",
  "dashboard/empty-chain",
  "fuzz/fuzz",
  "dashboard/cover-and-claims",
  "dashboard/operator",
  "api/indexed-reads",
  "api/faucet-states",
  "api/analysis-query-plans",
  "dashboard/operator-stops",
  "api/sandbox-states",
  "api/query-plans",
  "workers/outbox-due-walk",
  "dashboard/bonds-and-market",
  "workers/queue-purchases.db",
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

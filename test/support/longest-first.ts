import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Test files that take over a minute. */
const longest = [
  "fault/writer-killed",
  "fault/webhook-faults",
  "e2e/dev",
  "model/model",
  "fuzz/fuzz",
  "fault/soak",
  "workers/outbox-restarts",
];

const rank = ({ moduleId }: TestSpecification): number => {
  const index = longest.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
  return index === -1 ? longest.length : index;
};

/** Starts the longest test files first, so that none of them runs alone at the end. */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}

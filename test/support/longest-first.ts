import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take over a minute. Started last, they would keep the run waiting. */
const longest = [
  "fault/writer-killed",
  "fault/webhook-faults",
  "e2e/dev",
  "model/model",
  "fault/soak",
  "workers/outbox-restarts",
];

const rank = ({ moduleId }: TestSpecification): number => {
  const place = longest.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
  return place === -1 ? longest.length : place;
};

/** Begins the longest test files first, so that no worker is left with one at the end. */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}

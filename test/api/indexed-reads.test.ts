/**
 * The reads of the index on an empty chain, and after each chapter of a history with every event. What this proves: the statistics and
 * the analyses are those of the contracts' logs and views at the same block; and what all indexed reads share, one block per
 * response, ETags, pages, and a 400 for every invalid parameter.
 */
import { beforeAll, describe, test } from "vitest";
import { expectAnalysis } from "../model/support/analysis.ts";
import { readChainState } from "../model/support/chain-state.ts";
import { expectStats } from "../model/support/stats-endpoints.ts";
import { chapters, historyContext } from "../src/support/history.ts";
import { analyses, analysesOfNothing } from "./support/analyses.ts";
import { startApi, type TestApi } from "./support/api.ts";
import { answersCaughtUp } from "./support/caught-up.ts";
import { everyIndexedRead } from "./support/every-indexed-read.ts";
import { activityPages, growingIndex } from "./support/growing-index.ts";
import { indexedParameters } from "./support/indexed-parameters.ts";
import { namedInputs } from "./support/named-inputs.ts";
import { statsAfterHistory } from "./support/stats-after-history.ts";

let api: TestApi;
beforeAll(async () => {
  api = await startApi({ services: ["api", "indexer"], chainOptions: { retired: false } });
});

test("before the first event every statistic has zeros and nulls", async () => {
  await answersCaughtUp(api);
  await expectStats(api.request, await readChainState(api.chain));
});

describe("before the first event", () => analysesOfNothing(() => api));

for (const chapter of chapters) {
  test(`after the chapter "${chapter.name}" every statistic and analysis matches the chain`, async () => {
    await chapter.play(historyContext(api.chain));
    await answersCaughtUp(api);
    const chainState = await readChainState(api.chain);
    await expectStats(api.request, chainState);
    await expectAnalysis(api.request, chainState);
  });
}

describe("the analyses", () => analyses(() => api));
describe("a read of the index", () => everyIndexedRead(() => api));
describe("parameters", () => indexedParameters(() => api));
describe("names", () => namedInputs(() => api));
describe("the activity", () => activityPages(() => api));
describe("the statistics", () => statsAfterHistory(() => api));
describe("a growing chain", () => growingIndex(() => api));

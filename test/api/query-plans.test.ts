/**
 * What this proves: every query of a route uses a database index, also with the data of years of a busy protocol: 200,000
 * policies, a hundred thousand burns and price rounds.
 */
import { beforeAll, describe } from "vitest";
import { analysisPlans } from "./support/analysis-plans.ts";
import { listPlans } from "./support/list-plans.ts";
import { type LargeIndex, startLargeIndex, yearsOfRows } from "./support/query-plans.ts";
import { triggerPlans } from "./support/trigger-plans.ts";

let large: LargeIndex;

beforeAll(async () => {
  large = await startLargeIndex(yearsOfRows);
}, 1_800_000);

describe("lists, statistics and the marketplace", () => listPlans(() => large));
describe("analyses of all policies", () => analysisPlans(() => large));
describe("triggers, with ten thousand due policies", () => triggerPlans(() => large));
